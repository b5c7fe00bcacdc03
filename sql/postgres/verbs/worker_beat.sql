-- worker_beat: store a worker's heartbeat, with its counts of settled jobs so far. If the
-- worker was unregistered, it is registered again. If no row is returned, a sweep has
-- deleted the worker's row, because the worker was not seen for too long.

update readpast.worker
   set seen_at = pg_catalog.clock_timestamp(), stopped_at = null, done = :done::bigint,
       failed = :failed::bigint, dead = :dead::bigint,
       released = :released::bigint
 where id operator(pg_catalog.=) :id::bigint
returning id;
