-- enqueue: jobs of one priority, at the end of their lane or, with a delay or a
-- time, to come. If one has a payload that is larger than the queue takes, or
-- there is no such queue, nothing is done, and nothing answered.

select number, id
  from readpast.put(:queue::text, :priority::bigint::integer,
                    :delay_ms[]::bigint[], :run_at[]::bigint[],
                    :max_attempts[]::bigint[], :kind[]::text[],
                    :headers[]::text[], :payload[]::bytea[],
                    :largest::bigint)
       with ordinality as p(id, number);
