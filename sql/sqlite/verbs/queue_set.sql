-- queue_set: change settings of a queue. A parameter that is null leaves its setting as
-- it is. An empty :dead_to removes the setting dead_to.

update readpast_queue
   set max_attempts   = coalesce(:max_attempts, max_attempts),
       lease_ms       = coalesce(:lease_ms, lease_ms),
       backoff_ms     = coalesce(:backoff_ms, backoff_ms),
       backoff_max_ms = coalesce(:backoff_max_ms, backoff_max_ms),
       priority       = coalesce(:priority, priority),
       keep_done_ms   = coalesce(:keep_done_ms, keep_done_ms),
       keep_dead_ms   = coalesce(:keep_dead_ms, keep_dead_ms),
       max_payload    = coalesce(:max_payload, max_payload),
       timeout_ms     = coalesce(:timeout_ms, timeout_ms),
       dead_to        = nullif(coalesce(:dead_to, dead_to), ''),
       run_limit      = coalesce(:run_limit, run_limit),
       group_limit    = coalesce(:group_limit, group_limit),
       group_pass     = coalesce(:group_pass, group_pass),
       rate_count     = coalesce(:rate_count, rate_count),
       rate_ms        = coalesce(:rate_ms, rate_ms)
 where name = :queue;
