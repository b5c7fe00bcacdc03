-- worker_stop: a worker that holds nothing goes. Its row stays for a while: jobs
-- name it.

update readpast_worker
   set seen_at = :now, stopped_at = :now, done = :done, failed = :failed,
       dead = :dead, released = :released
 where id = :id;
