-- schedule_export: list the stored schedules of :queues (a JSON array of names, null:
-- all). With :leaving the statement lists those that schedule_leave has stopped,
-- otherwise the others.
-- paused_at: null if only the copy has paused the schedule.

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
