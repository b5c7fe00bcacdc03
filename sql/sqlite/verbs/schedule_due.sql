-- schedule_due: up to :max schedules whose next instant has come, the oldest first.

-- answer:
select id, name, queue, spec, zone, content, kind, headers, priority, missed,
       overlap, anchor, next_at, last_at, last_job_id, null as last_state,
       last_error, paused_at, created_at
  from readpast_schedule indexed by readpast_schedule_due
 where paused_at is null and next_at <= :now
 order by next_at
 limit :max;
