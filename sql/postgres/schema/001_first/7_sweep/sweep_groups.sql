-- sweep_groups: end the holds of groups when their time is over, call recheck_limits(), and
-- carry out recheck requests. A recheck request is a row of group_recheck. It asks to look
-- at a group again, because a waiting job may be admitted there. After the time
-- admit_budget() the routine carries out no more requests. It begins with a random queue,
-- so that no queue with many requests keeps those of others waiting. Claims also carry out
-- the requests of their own queue.
-- Result: none.
-- Locks: rows of group_hold, and the rows that recheck_limits() and admit_requested() lock.
-- Rows that other transactions have locked are skipped.

create function readpast.sweep_groups() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
as $body$
declare
	til timestamptz := clock_timestamp() + readpast.admit_budget();
	it  integer := (select random() * max(q.id) from readpast.queue q);
begin
	if exists (select 1 from readpast.group_hold h
	            where h.until <= clock_timestamp()) then
		with ended as (
			delete from readpast.group_hold h
			 where h.ctid = any (array(
			           select h.ctid from readpast.group_hold h
			            where h.until <= clock_timestamp()
			            limit readpast.admit_slice()
			              for update skip locked))
			returning h.queue_id, h.group_key)
		insert into readpast.group_recheck (queue_id, group_key)
		select e.queue_id, e.group_key from ended e;
	end if;
	perform readpast.recheck_limits();
	for round in 1 .. readpast.admit_rounds() loop
		it := coalesce(readpast.next_requested(it), readpast.next_requested(0));
		exit when it is null;
		while it is not null loop
			if clock_timestamp() > til then
				return;
			end if;
			perform readpast.admit_requested(it);
			it := readpast.next_requested(it);
		end loop;
		it := 0;
	end loop;
end
$body$;
