-- schedule_erase: delete the schedules of these queues (a JSON array of names; null: all)
-- whose `standby` begins with :standby.

delete from readpast_schedule
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
