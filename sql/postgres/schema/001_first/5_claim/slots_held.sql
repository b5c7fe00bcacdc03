-- slots_held: count the running jobs of a queue that has a run_limit.
-- queue_id: the queue.
-- Result: the count.
-- Locks: none.

create function readpast.slots_held(queue_id integer) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	-- OFFSET 0 makes the planner look up each job by its id. Otherwise it may read
	-- the whole table, if other queues have many more slots.
	return (select count(*)
	          from readpast.slot s
	         cross join lateral (
	               select 1
	                 from readpast.job j
	                where j.id = s.job_id and j.queue_id = slots_held.queue_id
	                  and j.lease_until is not null
	               offset 0) j
	         where s.queue_id = slots_held.queue_id);
end
$body$;
