-- worker_stop: unregister a worker that holds no job. The worker's row stays for an
-- hour, because jobs may still name the worker.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(),
       stopped_at = pg_catalog.clock_timestamp(),
       done = :done::bigint, failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint;
