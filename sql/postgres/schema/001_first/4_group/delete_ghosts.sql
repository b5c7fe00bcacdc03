-- delete_ghosts: delete slots of jobs that do not exist any more, have left the group, or
-- wait for it. Such slots exist if a transaction above READ COMMITTED settled a job while
-- the job's queue got its first group limit, see free_group_slots(). If the group was held,
-- the settled job may wait.
-- queue_id, group_keys: the groups, which the caller has locked by lock_groups().
-- Result: none.
-- Locks: these slots. No other transaction changes them.

create function readpast.delete_ghosts(queue_id integer, group_keys text[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
begin
	delete from readpast.group_slot s
	 using unnest(group_keys) as g(name)
	 where s.queue_id = delete_ghosts.queue_id and s.group_key = g.name
	   and (select j.group_key
	          from readpast.job j
	         where j.id = s.job_id and j.queue_id = s.queue_id and j.came is null)
	       is distinct from s.group_key;
end
$body$;
