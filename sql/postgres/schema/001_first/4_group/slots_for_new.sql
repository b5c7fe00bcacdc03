-- slots_for_new: decide how many jobs that an enqueue is about to add may stand in the
-- ready line at once. The others wait for their group.
-- Only a transaction that ends with this statement takes the group's lock. One that
-- stays open would keep others from admitting jobs of the group. Its jobs wait, and a
-- recheck request that commits with them lets the next claim admit them.
-- queue_id, group_key: the group.
-- n: how many jobs the enqueue adds.
-- joined: true if this transaction may stay open. Null: true if this is not its first
-- statement.
-- Result: n if the group has no limit and is not held, otherwise 0 to n. Null if the
-- group is null.
-- Locks: the group's lock, if it is free.

create function readpast.slots_for_new(queue_id integer, group_key text,
                                       n integer, joined boolean)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	most integer := (select q.group_limit from readpast.queue q
	                  where q.id = slots_for_new.queue_id);
begin
	if group_key is null then
		return null;
	elsif readpast.is_held(queue_id, group_key) then
		return 0;
	elsif most = 0 then
		return n;
	elsif coalesce(joined, now() <> statement_timestamp())
	      or current_setting('transaction_isolation') <> 'read committed'
	      or not pg_try_advisory_xact_lock(readpast.group_lock(queue_id, group_key))
	then
		return 0;
	elsif exists (select 1 from readpast.group_wait w
	               where w.queue_id = slots_for_new.queue_id
	                 and w.group_key = slots_for_new.group_key) then
		return 0;
	end if;
	return least(n, readpast.open_slots(queue_id, group_key, most));
end
$body$;
