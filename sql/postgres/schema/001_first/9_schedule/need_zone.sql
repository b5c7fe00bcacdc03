-- need_zone: raise an error unless the server knows a time zone.
-- zone: its name.
-- Result: the name; 22023: the server does not know it.
-- Locks: none.

create function readpast.need_zone(zone text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform clock_timestamp() at time zone zone;
	return zone;
end
$body$;
