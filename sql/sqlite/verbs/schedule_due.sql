-- schedule_due: up to :max schedules whose next instant has come, or whose fire is to be
-- tried again, the oldest first. has_fired: the job of next_at was enqueued, but the
-- instant after it could not be computed.

-- answer:
select id, name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, null as last_state,
       last_error, paused_at, created_at,
       retry_at is not null and last_at is next_at as has_fired
  from readpast_schedule indexed by readpast_schedule_due
 where paused_at is null and coalesce(retry_at, next_at) <= :now
 order by coalesce(retry_at, next_at)
 limit :max;
