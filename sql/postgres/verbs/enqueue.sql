-- enqueue: add jobs of one priority. A job that has a delay or a time is scheduled. Any
-- other job is ready. If there is no such queue, or if a payload is larger than the
-- queue's limit, no job is added and no row is returned.

select number, id
  from readpast.put(:queue, :priority::bigint::integer, :delay_ms[], :run_at[],
                    :max_attempts[], :kind[], :headers[], :payload[], :largest,
                    :keep_ms, :timeout_ms, :expire_ms,
                    :backoff::pg_catalog.text::pg_catalog.json, (:group_key[])::pg_catalog.text[],
                    :joined::bigint::integer::boolean)
       with ordinality as p(id, number);
