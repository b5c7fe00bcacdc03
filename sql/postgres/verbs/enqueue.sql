-- enqueue: add jobs of one priority. Each is ready, at the end of its lane, or
-- scheduled if it has a delay or a time. If there is no such queue, or a payload is
-- larger than the queue takes, no job is added and no row is returned.

select number, id
  from readpast.put(:queue, :priority::bigint::integer, :delay_ms[], :run_at[],
                    :max_attempts[], :kind[], :headers[], :payload[], :largest,
                    :keep_ms, :timeout_ms, :expire_ms,
                    :backoff::pg_catalog.text::pg_catalog.json)
       with ordinality as p(id, number);
