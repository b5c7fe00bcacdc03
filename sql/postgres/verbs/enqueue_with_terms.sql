-- enqueue_with_terms: add one job with terms (such as keep_ms), and with any of the
-- other options. The rows are those of enqueue_unique. Most jobs have no terms, so
-- enqueue_unique does not have these parameters, because each of them has a cost.

select id, outcome
  from readpast.put_one(:queue, :payload, :priority::bigint::integer,
                        :delay_ms, readpast.at_ms(:run_at),
                        :max_attempts::bigint::integer, :kind, :headers,
                        :unique_key,
                        coalesce(:replace::bigint::integer::boolean, false),
                        readpast.extra_of(
                            :keep_ms, :timeout_ms,
                            pg_catalog.clock_timestamp()
                            operator(pg_catalog.+) readpast.ms(:expire_ms),
                            :backoff, :unique_for_ms))
 where id is not null;
