-- worker_stop: a worker that holds nothing goes. Its row stays for a while: jobs
-- name it.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(),
       stopped_at = pg_catalog.clock_timestamp(),
       done = :done::bigint, failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint;
