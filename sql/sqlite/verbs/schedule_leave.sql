-- schedule_leave: pause the schedules of :queues (a JSON array of names; null for all)
-- in the source of a move, before they are written to the target. Their column standby
-- begins with 'leaving' from then on.

update readpast_schedule
   set standby = 'leaving' || iif(paused_at is null, '', ' paused'),
       paused_at = coalesce(paused_at, :now)
 where (standby is null or standby not glob 'leaving*')
   and (:queues is null
        or queue in (select value from json_each(:queues)));
