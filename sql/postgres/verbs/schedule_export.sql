-- schedule_export: list schedules of :queues (a JSON array of names; null for all). If
-- :leaving is not 0, list only the schedules that schedule_leave has paused because
-- they are being moved away. If :leaving is 0, list all other schedules.
-- paused_at: the time at which a user paused the schedule, or null.

select name, queue, spec, zone, content, kind, headers::pg_catalog.text as headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, last_error,
       case when standby operator(pg_catalog.=) 'leaving' then null
            else paused_at end as paused_at, created_at
  from readpast.schedule
 where (:leaving::bigint operator(pg_catalog.<>) 0)
       operator(pg_catalog.=)
       pg_catalog.starts_with(coalesce(standby, ''), 'leaving')
   and (:queues::pg_catalog.text is null
        or :queues::pg_catalog.text::pg_catalog.jsonb
           operator(pg_catalog.?) queue)
 order by name;
