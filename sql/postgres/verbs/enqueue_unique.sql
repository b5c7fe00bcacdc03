-- enqueue_unique: add one job with any of the options. With a unique key it is added
-- only if no job of the queue has the key. Otherwise the id of that job is returned.
-- With :replace that job gets the new job's content, unless it is running or done.
-- outcome: 0 added, 1 existed, 2 replaced.

select id, outcome
  from readpast.put_one(:queue, :payload, :priority::bigint::integer,
                        :delay_ms, readpast.at_ms(:run_at),
                        :max_attempts::bigint::integer, :kind, :headers,
                        :unique_key,
                        coalesce(:replace::bigint::integer::boolean, false),
                        :keep_ms, :timeout_ms, :expire_ms,
                        :backoff::pg_catalog.text::pg_catalog.json,
                        :unique_for_ms)
 where id is not null;
