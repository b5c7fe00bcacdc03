-- is_second_time: has the same local time occurred before, because the clock was set
-- back?
-- zone: the name of the time zone.
-- at: the time to check.
-- Result: true if the local time has occurred before.
-- Locks: none.

create function readpast.is_second_time(zone text, at timestamptz)
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
declare
	back interval := readpast.offset_at(zone, at - interval '1 day')
	                 - readpast.offset_at(zone, at);
begin
	return back > interval '0'
	       and readpast.offset_at(zone, at - back)
	           = readpast.offset_at(zone, at) + back;
end
$body$;
