-- worker_beat: a worker's heartbeat, with its counts so far. No row: the worker was
-- considered dead, and its row was deleted.

-- answer:
select id from readpast_worker where id = :id;

update readpast_worker
   set seen_at = :now, done = :done, failed = :failed, dead = :dead,
       released = :released
 where id = @id;
