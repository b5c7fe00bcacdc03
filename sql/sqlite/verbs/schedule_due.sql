-- schedule_due: return up to :max schedules whose next time has come, or which must be
-- tried again now because an earlier try failed. The schedules that have been due for
-- the longest time come first. has_fired is 1 if the schedule has enqueued its job for
-- next_at, but the time of the fire that follows next_at has not been computed yet.

-- answer:
select id, name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, null as last_state,
       last_error, paused_at, created_at,
       retry_at is not null and last_at is next_at as has_fired
  from readpast_schedule indexed by readpast_schedule_due
 where paused_at is null and coalesce(retry_at, next_at) <= :now
 order by coalesce(retry_at, next_at)
 limit :max;
