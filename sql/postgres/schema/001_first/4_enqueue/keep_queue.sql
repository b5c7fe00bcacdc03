-- keep_queue: prevent a queue from being dropped until this transaction ends. Only
-- enqueues above READ COMMITTED need this.
-- At READ COMMITTED an enqueue does not lock the row of its queue. If the queue is
-- dropped at the same time, the sweep moves the enqueued jobs into a new queue, see
-- take_over(). At a higher isolation level the snapshot of the transaction may be
-- older than the drop. Such a transaction does not see the drop, and could put jobs
-- into the dropped queue for as long as the transaction is open. The lock on the
-- queue's row prevents this, and blocks only a drop of the queue.
-- queue: the name of the queue.
-- Result: none. SQLSTATE 40001: the queue was dropped.
-- Locks: the queue's row, for key share.

create function readpast.keep_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform 1 from readpast.queue q where q.name = queue for key share;
end
$body$;
