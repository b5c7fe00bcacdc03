-- lock_groups: try to lock groups, so that no two transactions count the slots of a
-- group at the same time. The locks are held until the transaction ends, but no call
-- waits for them. All groups of all queues share group_locks() advisory locks, because
-- a server can hold only some thousand locks. So another transaction may hold the lock
-- of a group because it locked a different group. Then this call does not lock the
-- group, which only costs a recheck request.
-- The call also takes a lock of the queue, which several transactions can share, so that
-- has_other_admissions() can wait for them. If this lock is not free, no group is locked.
-- The caller must read the group limit after this call, see limit_change.
-- queue_id, group_keys: the groups.
-- Result: the groups that were locked.
-- Locks: the advisory lock of the queue, shared, and those of the groups, if they are
-- free.

create function readpast.lock_groups(queue_id integer, group_keys text[])
returns text[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if not pg_try_advisory_xact_lock_shared(hashtext('readpast.group_limit'), queue_id) then
		return '{}';
	end if;
	return array(select g.name
	               from unnest(group_keys) as g(name)
	              where pg_try_advisory_xact_lock(
	                        hashtext('readpast.group_slot'),
	                        (hashtextextended(g.name, queue_id)
	                         & (readpast.group_locks() - 1))::integer));
end
$body$;
