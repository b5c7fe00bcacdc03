-- worker_stop: unregister a worker that holds no job. The worker's row stays for an
-- hour, because rows of jobs refer to it.

update readpast_worker
   set seen_at = :now, stopped_at = :now, done = :done, failed = :failed,
       dead = :dead, released = :released
 where id = :id;
