-- lock_groups: try to lock groups, so that no two transactions count the slots of a
-- group at the same time. The locks are held until the transaction ends, but no call
-- waits for them. A server can hold only some thousand advisory locks. So for more than
-- admit_groups() groups the routine tries to take one exclusive lock for the whole queue.
-- Before it locks single groups, it takes the queue's lock in shared mode. So a lock of
-- the whole queue excludes locks of its groups.
-- queue_id, group_keys: the groups, without duplicates.
-- Result: the groups that were locked.
-- Locks: the advisory locks of the queue and of the groups, if they are free.

create function readpast.lock_groups(queue_id integer, group_keys text[])
returns text[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	whole bigint := readpast.group_lock(queue_id, '');
begin
	if cardinality(group_keys) > readpast.admit_groups() then
		if pg_try_advisory_xact_lock(whole) then
			return group_keys;
		end if;
		group_keys := group_keys[:readpast.admit_groups()];
	end if;
	if not pg_try_advisory_xact_lock_shared(whole) then
		return '{}';
	end if;
	return array(select g.name
	               from unnest(group_keys) as g(name)
	              where pg_try_advisory_xact_lock(
	                        readpast.group_lock(queue_id, g.name)));
end
$body$;
