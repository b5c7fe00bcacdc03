-- change_before: find out when the clock of a time zone changed.
-- zone: the name of the time zone.
-- after, until: two times, a few days apart, at which the zone has different offsets
-- from UTC.
-- Result: the first second at which the offset differs from the offset at `after`.
-- Locks: none.

create function readpast.change_before(zone text, after timestamptz,
                                       until timestamptz)
returns timestamptz
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	early  timestamptz := date_trunc('second', after);
	late   timestamptz := date_trunc('second', until);
	middle timestamptz;
	its    interval := readpast.offset_at(zone, after);
begin
	while late - early > interval '1 second' loop
		middle := date_trunc('second', early + (late - early) / 2);
		if readpast.offset_at(zone, middle) = its then
			early := middle;
		else
			late := middle;
		end if;
	end loop;
	return late;
end
$body$;
