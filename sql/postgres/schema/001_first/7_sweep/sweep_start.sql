-- sweep_start: decide whether this transaction makes the next sweep, for all workers
-- and all queues. If so, the call locks the newest tick (a row of the table `tick`)
-- until the transaction ends, and adds the next tick. If another worker has locked the
-- newest tick, this worker does not sweep. But if that tick is older than
-- stuck_sweep_age(), this worker sweeps all the same.
-- in_turn: true to sweep only if a sweep is needed. False to sweep in any case.
-- Result: true if this transaction makes the sweep.
-- Locks: the newest tick, the ticks that make_tick() deletes, and rows of `dropped`.
-- Rows that other transactions have locked are skipped.

create function readpast.sweep_start(in_turn boolean default true)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	drawn  bigint := readpast.last_drawn();
	drops  integer[] := readpast.drops_to_note();
	newest record;
begin
	if in_turn and not readpast.needs_sweep() then
		return false;
	end if;
	select t.next_xid, t.read_at into newest
	  from readpast.tick t
	 order by t.next_xid desc
	 limit 1;
	perform 1 from readpast.tick t where t.next_xid = newest.next_xid
	    for update skip locked;
	if not found and in_turn
	   and newest.read_at between moment - readpast.stuck_sweep_age() and moment then
		return false;
	end if;
	-- Another sweep may have begun and committed since the first check. So check
	-- once more.
	if in_turn and not readpast.needs_sweep() then
		return false;
	end if;
	if drawn is not null then
		perform readpast.make_tick(drawn, moment);
	end if;
	perform readpast.note_drops(drops);
	return true;
end
$body$;
