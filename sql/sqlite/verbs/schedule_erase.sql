-- schedule_erase: delete schedules that a copy or a move has paused. These are the
-- schedules of :queues (a JSON array of names; null for all) whose column standby begins
-- with :standby: 'leaving', or 'copied' and the name of the source.

delete from readpast_schedule
 where standby glob :standby || '*'
   and (:queues is null
        or queue in (select value from json_each(:queues)));
