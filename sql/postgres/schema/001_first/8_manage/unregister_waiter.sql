-- unregister_waiter: end the registration of a worker that waits for jobs.
-- worker_id: the worker.
-- queues: the queues for whose jobs the worker waits.
-- Locks: the rows of `waiter` that the routine deletes. Rows that other transactions
-- have locked are skipped, because those transactions are notifying this worker and
-- delete the rows themselves.

create function readpast.unregister_waiter(worker_id bigint, queues text[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.waiter s
	 where s.ctid = any (array(
	           select s.ctid
	             from readpast.queue q
	             join readpast.waiter s
	               on s.queue_id = q.id and s.until > moment
	            where q.name = any (queues) and s.worker_id = unregister_waiter.worker_id
	              for update of s skip locked));
end
$body$;
