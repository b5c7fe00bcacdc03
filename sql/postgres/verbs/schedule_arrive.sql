-- schedule_arrive: start schedules that a copy or move has written to this database,
-- where they are paused at first. These are the schedules of :queues (a JSON array of
-- names; null for all) whose column `standby` begins with :standby. A schedule that was
-- paused before the copy stays paused.

update readpast.schedule
   set paused_at = case when standby operator(pg_catalog.~~) '% paused'
                        then paused_at end,
       standby = null
 where pg_catalog.starts_with(standby, :standby)
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue);
