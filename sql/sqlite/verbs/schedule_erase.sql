-- schedule_erase: delete the schedules of :queues (a JSON array of names; null for all)
-- in which a copy or move has noted :standby. That note is in the column `standby`, and
-- other words may follow it.

delete from readpast_schedule
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
