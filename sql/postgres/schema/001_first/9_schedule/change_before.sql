-- change_before: when the clock of a time zone changed.
-- zone: the time zone; after, until: times whose offsets differ, a few days apart.
-- Result: the first second with an offset other than that of `after`.
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
