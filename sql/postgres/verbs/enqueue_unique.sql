-- enqueue_unique: add one job with any of the options, except terms (such as keep_ms).
-- If a job of the queue has the same unique key, no job is added, and the id of that
-- job is returned. If :replace is true, that job also gets the content of the new job,
-- unless it is running or done.
-- outcome: 0: the job was added. 1: a job with the key existed, and nothing was
-- changed. 2: a job with the key existed, and got the new content.

select id, outcome
  from readpast.put_one(:queue, :payload, :priority::bigint::integer,
                        :delay_ms, readpast.at_ms(:run_at),
                        :max_attempts::bigint::integer, :kind, :headers,
                        :unique_key,
                        coalesce(:replace::bigint::integer::boolean, false),
                        null, null, null)
 where id is not null;
