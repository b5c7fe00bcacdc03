-- enqueue_unique: as enqueue, but only if no live job of the queue has the
-- key. One that has it is answered instead; :replace gives it the new job's
-- content, unless it runs.
-- outcome: 0 added, 1 existed, 2 replaced.

select id, outcome
  from readpast.put_unique(:queue, :payload, :priority::bigint::integer,
                           :delay_ms, readpast.at_ms(:run_at),
                           :max_attempts::bigint::integer, :kind, :headers,
                           :unique_key, :replace::bigint::integer::boolean)
 where id is not null;
