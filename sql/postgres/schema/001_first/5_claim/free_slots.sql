-- free_slots: return how many jobs a claim may take from a queue that has a run_limit.
-- A job that has ended leaves its row of `slot` behind. Such rows are deleted only when
-- the claim needs the room, because finding them reads the row of each job in `job`.
-- queue_id: the queue.
-- run_limit: how many of its jobs may run at the same time. 0: any number.
-- most: how many jobs the claim wants.
-- Result: 0 to `most`.
-- Locks: none. The caller holds the lock of lock_limit().

create function readpast.free_slots(queue_id integer, run_limit integer,
                                    most integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	held bigint;
	gone bigint;
begin
	if run_limit = 0 then
		return most;
	end if;
	held := (select count(*) from readpast.slot s
	          where s.queue_id = free_slots.queue_id);
	if held + most > run_limit then
		-- OFFSET 0: see slots_held().
		delete from readpast.slot s
		 where s.queue_id = free_slots.queue_id
		   and not exists (
		           select 1
		             from readpast.job j
		            where j.id = s.job_id and j.queue_id = s.queue_id
		              and j.lease_until is not null
		           offset 0);
		get diagnostics gone = row_count;
		held := held - gone;
	end if;
	return greatest(least(most, run_limit - held), 0);
end
$body$;
