-- enqueue: jobs of one priority, at the end of their lane or, with a delay or a
-- time, to come. If one has a payload that is larger than the queue takes, or
-- there is no such queue, nothing is done, and nothing answered.

select number, id
  from readpast.put(:queue, :priority::bigint::integer, :delay_ms[], :run_at[],
                    :max_attempts[], :kind[], :headers[], :payload[], :largest)
       with ordinality as p(id, number);
