-- worker_beat: a worker's heartbeat, with its counts so far. No row: the worker was
-- considered dead, and its row was deleted.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(), done = :done::bigint,
       failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint
returning id;
