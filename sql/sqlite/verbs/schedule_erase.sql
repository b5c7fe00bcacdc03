-- schedule_erase: delete the schedules of :queues (a JSON array of names; null for all)
-- whose column `standby` begins with :standby. A copy or a move has written :standby
-- into this column.

delete from readpast_schedule
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
