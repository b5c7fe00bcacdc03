-- fires: list schedules whose next job should have been enqueued some seconds ago. A
-- sweep fires schedules, which means that it enqueues their jobs. So either no client
-- sweeps, or the clients that sweep have no right to fire schedules.

select count(*) as schedules, min(s.next_at)::text as since,
       (extract(epoch from clock_timestamp() - min(s.next_at)) * 1000)::bigint
       as late_ms,
       (extract(epoch from clock_timestamp() - min(s.next_at)) * 1000)::bigint
       as lasts_ms,
       (array_agg(s.name order by s.next_at))[1] as example,
       format('; its role needs the right to update %I.schedule',
              current_schema()) as rights
  from schedule s
 where s.paused_at is null and s.retry_at is null
   and s.next_at < clock_timestamp() - interval '5 seconds'
having count(*) > 0;
