-- sweep: the maintenance: end leases that ran out, cancel jobs that expired, move scheduled
-- jobs that are due to the ready line, forget kept jobs whose time is over, fire schedules
-- that are due. Workers of libreadpast do it all the time; a program that only claims calls
-- it about once a second.
-- most: how many jobs each of these steps changes at the most.
-- Result: due: jobs that were due; recovered, dead: those whose lease ran out, and
-- that are ready again, or dead; dropped: kept jobs that were forgotten;
-- expired: jobs that were not claimed in time and are cancelled. RP003: an
-- argument is wrong; 25001: above READ COMMITTED.
-- Locks: those of sweep_expired(), sweep_overdue(), sweep_due(), sweep_kept(),
-- sweep_rest(), make_tick(), note_drops() and fire_due(). They skip rows that others have locked.

create function readpast.sweep(most integer default 20000,
	out due bigint, out recovered bigint, out dead bigint,
	out dropped bigint, out expired bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	-- Read both in this order, before a statement gives this transaction an
	-- id.
	moment timestamptz := clock_timestamp();
	drawn bigint := readpast.last_drawn();
	drops integer[] := readpast.drops_to_note();
begin
	if most is null or most < 1 then
		raise exception 'a sweep of less than one job' using errcode = 'RP003';
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
	perform readpast.fire_due(most)
	   where has_table_privilege('readpast.schedule', 'UPDATE');
	perform readpast.note_drops(drops);
end
$body$;
