-- schedule_arrive: schedules of these queues (a JSON array of names; null: all) whose
-- `standby` begins with :standby fire from now on, but for those that were paused before
-- they were moved.

update readpast_schedule
   set paused_at = iif(standby glob '* paused', paused_at, null),
       standby = null
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
