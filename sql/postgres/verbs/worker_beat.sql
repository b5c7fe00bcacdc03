-- worker_beat: store a worker's heartbeat, with its counts so far. If no row is
-- returned, the worker's row was deleted, because the worker had not been seen for too
-- long.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(), done = :done::bigint,
       failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint
returning id;
