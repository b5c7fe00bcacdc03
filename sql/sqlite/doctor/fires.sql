-- fires: list schedules whose next job should have been enqueued more than five seconds
-- ago. A sweep enqueues the jobs of schedules, so a late schedule means that no client
-- sweeps.

select count(*) as schedules,
       strftime('%Y-%m-%dT%H:%M:%SZ', min(next_at) / 1000, 'unixepoch')
       as since,
       :now_ms - min(next_at) as late_ms, :now_ms - min(next_at) as lasts_ms,
       name as example, '' as rights
  from readpast_schedule
 where paused_at is null and retry_at is null and next_at < :now_ms - 5000
having count(*) > 0;
