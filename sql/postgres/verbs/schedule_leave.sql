-- schedule_leave: pause the schedules of :queues (a JSON array of names; null for all),
-- because `readpast copy` moves them to another database.

update readpast.schedule
   set standby = case when paused_at is null then 'leaving'
                      else 'leaving paused' end,
       paused_at = coalesce(paused_at, pg_catalog.clock_timestamp())
 where (standby is null or not pg_catalog.starts_with(standby, 'leaving'))
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
