-- take_slots: count jobs as running, because this transaction claims them.
-- queue_id: the queue of the jobs, which has a run_limit.
-- places: their rows (ctid), which this transaction has locked.
-- Result: none.
-- Locks: none. The caller holds the lock of lock_limit().

create function readpast.take_slots(queue_id integer, places tid[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.slot (queue_id, job_id)
	select take_slots.queue_id, j.id
	  from readpast.job j
	 where j.ctid = any (places)
	    on conflict do nothing;
end
$body$;
