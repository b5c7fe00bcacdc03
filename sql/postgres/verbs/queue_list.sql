-- queue_list: list the settings of the queue :queue. If :queue is null, list all
-- queues, in the order of their names.

select name, paused_at, pause_reason, max_attempts, lease_ms, backoff_ms,
       backoff_max_ms, priority, keep_done_ms, keep_dead_ms, max_payload,
       timeout_ms, dead_to, run_limit, group_limit, group_pass,
       rate_count, rate_ms,
       case when held_until operator(pg_catalog.>) pg_catalog.clock_timestamp()
            then held_until end as held_until
  from readpast.queue
 where name operator(pg_catalog.=) coalesce(:queue, name)
 order by name;
