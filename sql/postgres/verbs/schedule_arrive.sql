-- schedule_arrive: let schedules of :queues (a JSON array of names, null: all) fire
-- whose `standby` begins with :standby. A schedule that was paused before it was moved
-- stays paused.

update readpast.schedule
   set paused_at = case when standby operator(pg_catalog.~~) '% paused'
                        then paused_at end,
       standby = null
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
