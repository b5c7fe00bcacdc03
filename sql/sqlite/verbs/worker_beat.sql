-- worker_beat: store a worker's heartbeat: the current time, and how many jobs the
-- worker has settled so far. If the worker was unregistered, it is registered again. If
-- the worker's row was deleted because the worker was not seen for too long, no row is
-- returned.

-- answer:
select id from readpast_worker where id = :id;

update readpast_worker
   set seen_at = :now, stopped_at = null, done = :done, failed = :failed, dead = :dead,
       released = :released
 where id = @id;
