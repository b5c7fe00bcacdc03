-- worker_leave: unregister a client whose last heartbeat is older than :silent_ms.
-- If its last heartbeat is newer, its id is returned. The client stays registered then.

update readpast_worker
   set stopped_at = :now
 where id = :id and stopped_at is null and seen_at < :now - :silent_ms;

-- answer:
select id from readpast_worker where id = :id and stopped_at is null;
