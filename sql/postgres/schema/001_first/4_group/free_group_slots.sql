-- free_group_slots: delete the slots of jobs that have ended or left their group, and
-- admit the next jobs of the groups in the same commit. If a group has fewer waiting jobs
-- that can be locked than freed slots, a recheck request is left, unless nobody waits. An
-- enqueue whose jobs this transaction cannot see leaves a request itself. Above READ
-- COMMITTED a request is always left, because that enqueue's request may be carried out
-- before this transaction deletes the slot.
-- jobs: queue_id, group_key and job_id of each job. The other columns are ignored. The
-- caller has locked or deleted the jobs' rows.
-- Result: none.
-- Locks: the slots, and the rows that next_waiting() locks.

create function readpast.free_group_slots(jobs readpast.group_slot[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	freed readpast.group_slot[];
	next  bigint[];
begin
	with gone as (
		delete from readpast.group_slot s
		 using unnest(jobs) j
		 where s.queue_id = j.queue_id and s.group_key = j.group_key
		   and s.job_id = j.job_id
		returning s.*)
	select array_agg(g::readpast.group_slot) into freed from gone g;
	if freed is null then
		return;
	end if;
	next := readpast.next_waiting(freed);
	if next <> '{}' then
		perform readpast.admit_jobs(next);
	end if;
	if cardinality(next) < cardinality(freed) then
		insert into readpast.group_recheck (queue_id, group_key)
		select distinct f.queue_id, f.group_key
		  from unnest(freed) f
		 where exists (select 1 from readpast.group_wait w
		                where w.queue_id = f.queue_id
		                  and w.group_key = f.group_key)
		    or current_setting('transaction_isolation') <> 'read committed';
	end if;
end
$body$;
