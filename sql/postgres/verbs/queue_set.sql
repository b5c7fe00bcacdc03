-- queue_set: change settings of a queue. A parameter that is null leaves its setting as
-- it is. The routine queue_set() has no parameter `joined`, so its other part, the
-- routine set_limits(), is called separately.

select readpast.queue_set(
           :queue, :max_attempts::bigint::integer, readpast.ms(:lease_ms),
           readpast.ms(:backoff_ms), readpast.ms(:backoff_max_ms),
           :priority::bigint::integer, readpast.ms(:keep_done_ms),
           readpast.ms(:keep_dead_ms), :max_payload, readpast.ms(:timeout_ms),
           :dead_to, :run_limit::bigint::integer),
       readpast.set_limits(
           :queue, :group_limit::bigint::integer,
           (array['block', 'pass'])[:group_pass::bigint::integer operator(pg_catalog.+) 1],
           :rate_count::bigint::integer, readpast.ms(:rate_ms),
           :joined::bigint::integer::boolean);
