-- enqueue: jobs of one priority, at the end of their lane or, with a delay or a
-- time, scheduled. If there is no such queue, or a payload is larger than the queue
-- takes, nothing is done and there is no answer.

select number, id
  from readpast.put(:queue, :priority::bigint::integer, :delay_ms[], :run_at[],
                    :max_attempts[], :kind[], :headers[], :payload[], :largest,
                    :keep_ms, :timeout_ms, :expire_ms,
                    :backoff::pg_catalog.text::pg_catalog.json)
       with ordinality as p(id, number);
