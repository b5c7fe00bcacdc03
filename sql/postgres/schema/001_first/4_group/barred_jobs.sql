-- barred_jobs: find those of some ready jobs that may not run now: jobs of a group that
-- is held, or whose queue has a group limit and that have no slot of their group, or one
-- too many. A job gets into the ready line without a slot if its queue had no group limit
-- then, or if it came from a copy. A group has too many slots if the limit was lowered.
-- ids: jobs. Those that are running or not in the ready line are left out.
-- Result: the ids of the barred jobs.
-- Locks: none.

create function readpast.barred_jobs(ids bigint[]) returns bigint[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	return array(
		select j.id
		  from readpast.job j
		  join readpast.queue q
		    on q.id = j.queue_id
		   and (q.group_limit > 0 or q.holds_until > moment)
		 where j.id = any (ids) and j.seq is not null
		   and j.lease_until is null and (j.extra).group_key is not null
		   and (q.group_limit > 0
		        and not exists (
		                select 1 from readpast.group_slot s
		                 where s.queue_id = j.queue_id
		                   and s.group_key = (j.extra).group_key
		                   and s.job_id = j.id)
		        or q.group_lowered
		           and readpast.slots_before(j.queue_id, (j.extra).group_key, j.id)
		               >= q.group_limit
		        or q.holds_until > moment
		           and readpast.is_held(j.queue_id, (j.extra).group_key)));
end
$body$;
