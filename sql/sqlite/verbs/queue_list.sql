-- queue_list: return the settings of the queue :queue. If :queue is null, return those
-- of all queues, sorted by name.

-- answer:
select name, paused_at, pause_reason, max_attempts, lease_ms, backoff_ms,
       backoff_max_ms, priority, keep_done_ms, keep_dead_ms, max_payload,
       timeout_ms, dead_to, run_limit, group_limit, group_pass,
       rate_count, rate_ms, iif(held_until > :now, held_until, null) as held_until
  from readpast_queue
 where name in (select :queue
                union all
                select name from readpast_queue where :queue is null)
 order by name;
