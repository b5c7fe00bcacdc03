-- schedule_erase: delete the schedules of :queues (a JSON array of names; null for all)
-- in which a copy or move has noted :standby. That note is in the column `standby`, and
-- other words may follow it.

delete from readpast.schedule
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
