-- worker_beat: a worker is still there, and what it has done so far. No row: it
-- was taken for dead and forgotten.

-- answer:
select id from readpast_worker where id = :id;

update readpast_worker
   set seen_at = :now, done = :done, failed = :failed, dead = :dead,
       released = :released
 where id = @id;
