-- new_jobs: columns of a select from readpast_queue q, for an insert of jobs without unique
-- keys. last_seq is the number of the last job of the lane (the ready jobs of one queue,
-- priority and class), or null if the new jobs are scheduled. apart is 1 if a payload goes
-- into readpast_payload. has_terms is 1 if the jobs have their own expiry, backoff,
-- time-out or keep_ms (how long a done job is kept).

       q.id as queue_id, coalesce(:priority, q.priority) as priority,
       coalesce(:max_attempts, q.max_attempts) as max_attempts,
       iif(:run_at > :now, :run_at, :now + coalesce(:delay_ms, 0)) as run_at,
       iif(:delay_ms > 0 or :run_at > :now, null,
           coalesce((select seq from readpast_job
                      where queue_id = q.id
                        and priority = coalesce(:priority, q.priority)
                        and class = 2 and seq is not null
                      order by seq desc limit 1), 0)) as last_seq,
       :largest > :most_in_row as apart,
       coalesce(:keep_ms, :timeout_ms, :expire_ms, :backoff) is not null
       as has_terms
