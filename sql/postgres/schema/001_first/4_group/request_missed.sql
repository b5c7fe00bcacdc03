-- request_missed: after this transaction has freed slots that no job got, add recheck
-- requests for the groups in which a job may wait. This transaction cannot see the job of
-- an enqueue that has not committed. An enqueue that has locked the group adds no request
-- for its job. So this routine tries to lock each group:
--   If another transaction has the lock, the routine adds a request for the group.
--   If the routine gets the lock, it adds a request only if it sees a waiting job. Later
--     enqueues cannot lock the group until this transaction ends, so they add requests.
-- A transaction that may stay open locks no group and adds a request for each.
-- queue_id: the queue.
-- requests: for each group, the request to add. Its place is that of the freed slot. If
-- all waiting jobs come before this place, a request for all jobs of the group is added
-- instead.
-- joined: see stays_open().
-- Result: none.
-- Locks: those of lock_groups().

create function readpast.request_missed(queue_id integer,
                                        requests readpast.group_recheck[],
                                        joined boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
declare
	locked text[] := '{}';
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		return; -- free_group_slots() has added requests
	elsif not readpast.stays_open(joined) then
		locked := readpast.lock_groups(queue_id, array(
			select r.group_key from unnest(requests) r));
	end if;
	insert into readpast.group_recheck (queue_id, group_key, priority, came)
	select r.queue_id, r.group_key, case when f.is_after then r.priority else -1 end,
	       case when f.is_after then r.came else 0 end
	  from unnest(requests) r
	  left join unnest(locked) as l(name) on l.name = r.group_key
	 cross join lateral (
	       select (l.name is null
	               or (select 1
	                     from readpast.waits_after(r.queue_id, r.group_key, r.priority,
	                                               r.came) w
	                    limit 1) = 1) is true as is_after) f
	 where f.is_after
	    or (select 1 from readpast.group_wait w
	         where w.queue_id = r.queue_id and w.group_key = r.group_key
	         limit 1) = 1;
end
$body$;
