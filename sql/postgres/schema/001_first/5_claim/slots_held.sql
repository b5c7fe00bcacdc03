-- slots_held: count the running jobs of a queue that has a run_limit.
-- queue_id: the queue.
-- Result: the count.
-- Locks: none.

create function readpast.slots_held(queue_id integer) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return (select count(*)
	          from readpast.slot s
	          join readpast.job j on j.id = s.job_id
	         where s.queue_id = slots_held.queue_id
	           and j.queue_id = slots_held.queue_id
	           and j.lease_until is not null);
end
$body$;
