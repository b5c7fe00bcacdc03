-- enqueue_with_terms: like enqueue_unique, but the job may also have terms, which are
-- rarely used settings such as keep_ms. This is a verb of its own because each
-- parameter has a cost, and most jobs have no terms. The planner can inline extra_of()
-- because statement_timestamp() is stable; with clock_timestamp() it could not.

select id, outcome
  from readpast.put_one(:queue, :payload, :priority::bigint::integer,
                        :delay_ms, readpast.at_ms(:run_at),
                        :max_attempts::bigint::integer, :kind, :headers,
                        :unique_key,
                        coalesce(:replace::bigint::integer::boolean, false),
                        readpast.extra_of(
                            :keep_ms, :timeout_ms,
                            pg_catalog.statement_timestamp()
                            operator(pg_catalog.+) readpast.ms(:expire_ms),
                            :backoff, :unique_for_ms), :group_key,
                        :joined::bigint::integer::boolean)
 where id is not null;
