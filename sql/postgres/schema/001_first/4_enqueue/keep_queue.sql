-- keep_queue: prevent a queue from being dropped until this transaction ends, which
-- enqueues at a level above READ COMMITTED.
-- At READ COMMITTED an enqueue locks nothing of its queue. If the queue is dropped
-- meanwhile, the sweep moves the jobs into a new queue, see take_over(). At a higher
-- level the snapshot may be older than the drop and not show it, and the transaction
-- could enqueue into the dropped queue for ever. Hence the lock; it blocks only a drop.
-- queue: its name.
-- Result: none; SQLSTATE 40001 if the queue was dropped.
-- Locks: the queue's row, for key share.

create function readpast.keep_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform 1 from readpast.queue q where q.name = queue for key share;
end
$body$;
