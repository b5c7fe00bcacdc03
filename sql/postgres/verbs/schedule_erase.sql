-- schedule_erase: delete the schedules of :queues (a JSON array of names; null for all)
-- whose column `standby` begins with :standby. A copy or a move has written :standby
-- into this column.

delete from readpast.schedule
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
