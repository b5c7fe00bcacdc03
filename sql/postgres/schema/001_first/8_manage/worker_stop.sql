-- worker_stop: unregister a worker that ends. The worker's row stays for an hour,
-- because jobs may still name the worker. Jobs that the worker still holds are not
-- released. They become ready again when their leases end.
-- worker_id: the worker.
-- Result: none. If the worker is unknown or already unregistered, nothing changes.
-- SQLSTATE RP003: the id is null.
-- Locks: the worker's row, and its rows of `waiter`.

create function readpast.worker_stop(worker_id bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	served text[];
begin
	if worker_id is null then
		raise exception 'worker_id is null' using errcode = 'RP003';
	end if;
	update readpast.worker w
	   set seen_at = moment,
	       stopped_at = moment
	 where w.id = worker_stop.worker_id and w.stopped_at is null
	returning array(select jsonb_array_elements_text(w.queues)) into served;
	perform readpast.unregister_waiter(worker_id, served);
end
$body$;
