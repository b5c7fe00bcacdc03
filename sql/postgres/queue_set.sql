-- queue_set: change the settings that are not null.

select readpast.queue_set(
           :queue::text, :max_attempts::bigint::integer,
           readpast.ms(:lease_ms::bigint), readpast.ms(:backoff_ms::bigint),
           readpast.ms(:backoff_max_ms::bigint), :priority::bigint::integer,
           readpast.ms(:keep_done_ms::bigint),
           readpast.ms(:keep_dead_ms::bigint), :max_payload::bigint);
