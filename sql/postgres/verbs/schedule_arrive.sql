-- schedule_arrive: schedules of these queues (a JSON array of names; null: all) whose
-- `standby` begins with :standby fire from now on, but for those that were paused before
-- they were moved.

update readpast.schedule
   set paused_at = case when standby operator(pg_catalog.~~) '% paused'
                        then paused_at end,
       standby = null
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
