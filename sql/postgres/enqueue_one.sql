-- enqueue_one: as enqueue, for one job, which costs half of an array of one.

select readpast.put_one(:queue::text, :priority::bigint::integer,
                        :delay_ms::bigint, readpast.at_ms(:run_at::bigint),
                        :max_attempts::bigint::integer, :kind::text,
                        :headers::text::json, :payload::bytea);
