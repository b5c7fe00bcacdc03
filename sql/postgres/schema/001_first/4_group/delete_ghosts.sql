-- delete_ghosts: delete slots of jobs that do not exist any more, or have left the
-- group. Such slots exist if a transaction above READ COMMITTED completed a job while
-- the job's queue got its first group limit, see free_group_slots(). Such a transaction
-- adds requests for all jobs of the groups.
-- requests: a recheck request for each group, see merge_requests(). The caller has locked
-- the groups by lock_groups().
-- Result: none.
-- Locks: these slots. No other transaction changes them.

create function readpast.delete_ghosts(requests readpast.group_recheck[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
	delete from readpast.group_slot s
	 using unnest(requests) r
	 where r.priority = -1 and s.queue_id = r.queue_id and s.group_key = r.group_key
	   and (select (j.extra).group_key
	          from readpast.job j
	         where j.id = s.job_id and j.queue_id = s.queue_id)
	       is distinct from s.group_key;
end
$body$;
