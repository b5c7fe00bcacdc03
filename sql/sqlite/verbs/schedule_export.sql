-- schedule_export: return schedules of :queues (a JSON array of names; null for all).
-- If :leaving is 1, return only the schedules that schedule_leave has paused. If
-- :leaving is 0, return only the other schedules.
-- paused_at is the time at which a user paused the schedule, or null.

-- answer:
select name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, last_error,
       iif(standby is 'leaving', null, paused_at) as paused_at, created_at
  from readpast_schedule
 where :leaving = (coalesce(standby, '') glob 'leaving*')
   and (:queues is null
        or queue in (select value from json_each(:queues)))
 order by name;
