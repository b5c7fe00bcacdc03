-- worker_stop: a worker that holds nothing goes. Its row stays for a while: jobs
-- name it.

update readpast.worker
   set seen_at = clock_timestamp(), stopped_at = clock_timestamp(),
       done = :done::bigint, failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id = :id::bigint;
