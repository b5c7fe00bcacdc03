-- sweep: do all maintenance. It ends leases that ran out, cancels jobs that expired,
-- makes scheduled jobs ready when they are due, deletes finished jobs whose retention
-- is over, and fires schedules that are due. Workers of libreadpast call sweep() by
-- themselves. If a program claims jobs in SQL and no such worker runs, the program must
-- call sweep() about once a second.
-- most: each step of the sweep changes at most this number of jobs.
-- Result:
--   due: how many scheduled jobs became ready.
--   recovered: how many jobs lost their lease and are ready again.
--   dead: how many jobs lost their lease and are dead.
--   dropped: how many kept jobs were deleted.
--   expired: how many jobs were cancelled because nobody claimed them in time.
--   fired: how many jobs schedules added.
-- SQLSTATE RP003: an argument is wrong. SQLSTATE 25001: the transaction is not at READ
-- COMMITTED.
-- Locks: the rows that the routine changes or deletes. Rows that other transactions
-- have locked are skipped.

create function readpast.sweep(most integer default 20000,
	out due bigint, out recovered bigint, out dead bigint,
	out dropped bigint, out expired bigint, out fired bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	-- First read the clock, then the last number of the ready line. Read both
	-- before a statement gives this transaction an id. make_tick() relies on this
	-- order.
	moment timestamptz := clock_timestamp();
	drawn bigint := readpast.last_drawn();
	drops integer[] := readpast.drops_to_note();
begin
	if most is null or most < 1 then
		raise exception 'the argument most must be at least 1' using errcode = 'RP003';
	end if;
	if drawn is not null and readpast.needs_tick() then
		perform readpast.make_tick(drawn, moment);
	end if;
	select count(*) filter (where not e.dead), count(*) filter (where e.dead)
	  into recovered, dead
	  from readpast.sweep_expired(most) e;
	select count(*) into expired from readpast.sweep_overdue(most);
	select count(*) into due from readpast.sweep_due(most);
	select count(*) into dropped from readpast.sweep_kept(most);
	perform readpast.sweep_rest();
	fired := 0;
	if has_table_privilege('readpast.schedule', 'UPDATE') then
		fired := (select f.jobs from readpast.fire_due(most) f);
	end if;
	perform readpast.note_drops(drops);
end
$body$;
