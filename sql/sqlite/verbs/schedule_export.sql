-- schedule_export: the schedules of these queues (a JSON array of names; null: all), as
-- they are stored: with :leaving those that schedule_leave has stopped, else the others.
-- paused_at: null if nobody but the copy paused it.

-- answer:
select name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, last_error,
       iif(standby is 'leaving', null, paused_at) as paused_at, created_at
  from readpast_schedule
 where :leaving = (coalesce(standby, '') glob 'leaving*')
   and (:queues is null
        or queue in (select value from json_each(:queues)))
 order by name;
