-- schedule_arrive: start schedules that a copy or move has written to this database,
-- where they are paused at first. These are the schedules of :queues (a JSON array of
-- names; null for all) whose column `standby` begins with :standby. A schedule that was
-- paused before the copy stays paused.

update readpast_schedule
   set paused_at = iif(standby glob '* paused', paused_at, null),
       standby = null
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
