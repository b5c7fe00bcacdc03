-- last_fire: return the time of the last fire of a schedule that is not after a given
-- time. last_until() of lib/schedule_fire.c does the same.
-- sets, zone, anchor: the columns of the table `schedule`.
-- fire: the time of a fire that is not after the given time.
-- until: the given time.
-- Result: the time of the last fire.
-- Locks: none.

create function readpast.last_fire(sets bigint[], zone text, anchor timestamptz,
                                   fire timestamptz, until timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	middle timestamptz;
	next   timestamptz;
begin
	while fire < until loop
		middle := fire + (until - fire) / 2;
		next := readpast.next_fire(sets, zone, anchor, middle);
		if next <= until then
			fire := next;
		else
			until := middle;
		end if;
	end loop;
	return fire;
end
$body$;
