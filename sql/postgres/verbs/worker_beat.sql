-- worker_beat: store a worker's heartbeat, with the number of jobs that it has settled
-- so far. If no row is returned, a sweep has deleted the worker's row, because the
-- worker was not seen for too long.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(), done = :done::bigint,
       failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint
returning id;
