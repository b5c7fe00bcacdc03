-- sweep_start: is it this transaction that begins the next sweep, for all workers of all
-- queues? The one that does makes a tick. During its sweep the newest tick is locked, and
-- others leave the sweep to it, but not for longer than stuck_sweep_age().
-- in_turn: false: this transaction does in any case.
-- Result: true if it is.
-- Locks: the newest tick, which is skipped if another transaction has it locked; those
-- of make_tick() and note_drops().

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
	-- Another sweep may have begun and committed since the first check.
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
