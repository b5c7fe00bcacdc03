-- request_missed: after this transaction has freed slots that no job got, add recheck
-- requests for the groups in which a job may wait. This transaction cannot see the job of
-- an enqueue that has not committed. An enqueue that has locked the group adds no request
-- for its job. So this routine tries to lock each group:
--   If another transaction has the lock, the routine adds a request for the group.
--   If the routine gets the lock, it adds a request only if it sees a waiting job. Later
--     enqueues cannot lock the group until this transaction ends, so they add requests.
-- A transaction that may stay open locks no group and adds a request for each.
-- The caller's transaction is at READ COMMITTED.
-- queue_id, group_keys: the groups, without duplicates.
-- joined: see stays_open().
-- Result: none.
-- Locks: those of lock_groups().

create function readpast.request_missed(queue_id integer, group_keys text[],
                                        joined boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
declare
	locked text[] := '{}';
begin
	if not readpast.stays_open(joined) then
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
