-- free_slots: return how many jobs a claim may take from a queue that has a run_limit.
-- Until the transaction ends, no other claim takes jobs from this queue.
-- A job that has ended keeps its row of `slot`. To find such rows, the routine has to
-- read the row of each job. So it deletes them only if there are too few free slots
-- for `most` jobs.
-- queue_id: the queue.
-- run_limit: how many of its jobs may run at once.
-- most: the largest result.
-- Result: 0 to `most`.
-- Locks: the lock of lock_limit().

create function readpast.free_slots(queue_id integer, run_limit integer,
                                    most integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	held bigint;
	gone bigint;
begin
	if not readpast.lock_limit(queue_id) then
		return 0;
	end if;
	held := (select count(*) from readpast.slot s
	          where s.queue_id = free_slots.queue_id);
	if held + most > run_limit then
		delete from readpast.slot s
		 where s.queue_id = free_slots.queue_id
		   and not exists (
		           select 1
		             from readpast.job j
		            where j.id = s.job_id and j.queue_id = s.queue_id
		              and j.lease_until is not null);
		get diagnostics gone = row_count;
		held := held - gone;
	end if;
	return greatest(least(most, run_limit - held), 0);
end
$body$;
