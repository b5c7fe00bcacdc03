-- request_missed: after slots were freed that no job has got, leave recheck requests for
-- those of the groups in which a job may wait. An enqueue that this transaction cannot see
-- may be adding a job. If it holds the lock of the group, it leaves no request, so this
-- routine does. If this transaction gets the lock, it keeps it until its end, and an
-- enqueue leaves a request. A transaction that may stay open takes no lock, and so always
-- leaves requests.
-- queue_id, group_keys: the groups, without duplicates.
-- Result: none.
-- Locks: those of lock_groups().

create function readpast.request_missed(queue_id integer, group_keys text[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
declare
	locked text[] := '{}';
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		return; -- free_group_slots() has left requests
	elsif now() = statement_timestamp() then
		locked := readpast.lock_groups(queue_id, group_keys);
	end if;
	insert into readpast.group_recheck (queue_id, group_key)
	select request_missed.queue_id, g.name
	  from unnest(group_keys) as g(name)
	  left join unnest(locked) as l(name) on l.name = g.name
	 where l.name is null
	    or (select 1 from readpast.group_wait w
	         where w.queue_id = request_missed.queue_id and w.group_key = g.name
	         limit 1) = 1;
end
$body$;
