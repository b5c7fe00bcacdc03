-- schedule_arrive: start the schedules that a move has written to this database, where
-- the move has paused them. The statement finds the schedules of :queues (a JSON array of
-- names; null for all) whose column standby begins with :standby ('moved' and the name
-- of the source). A schedule that a user has paused stays paused.

update readpast_schedule
   set paused_at = iif(standby glob '* paused', paused_at, null),
       standby = null
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
