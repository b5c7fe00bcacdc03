-- schedule_due: return up to :max schedules that are due. A schedule is due at next_at.
-- If a sweep could not compute its next time, it is due at retry_at instead. The
-- schedules that have been due for the longest time come first.
-- has_fired is 1 if the schedule has fired for next_at already, and must not do so again.

-- answer:
select id, name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, null as last_state,
       last_error, paused_at, created_at,
       retry_at is not null and last_at is next_at as has_fired
  from readpast_schedule indexed by readpast_schedule_due
 where paused_at is null and coalesce(retry_at, next_at) <= :now
 order by coalesce(retry_at, next_at)
 limit :max;
