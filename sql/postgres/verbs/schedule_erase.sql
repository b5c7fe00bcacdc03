-- schedule_erase: delete those schedules of :queues (a JSON array of names, null: all)
-- that have a `standby` that begins with :standby.

delete from readpast.schedule
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
