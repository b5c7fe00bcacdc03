-- enqueue_one: as enqueue, for one job, which costs half of an array of one.

select readpast.put_one(:queue, :priority::bigint::integer, :delay_ms,
                        readpast.at_ms(:run_at),
                        :max_attempts::bigint::integer, :kind, :headers,
                        :payload) as id;
