-- need_zone: raise an error unless the server has a time zone of this name. If a
-- schedule already has this zone, the routine does not search the server's time zones,
-- because such a search reads all of them.
-- zone: the name of the time zone, as the IANA database writes it.
-- Result: the name. SQLSTATE RP003: there is no such time zone. The hint then lists
-- similar names.
-- Locks: none.

create function readpast.need_zone(zone text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
	near text;
begin
	if zone = 'UTC'
	   or exists (select 1 from readpast.schedule s
	               where s.zone = need_zone.zone)
	   or exists (select 1 from pg_timezone_names n
	               where n.name = zone and n.name ~ '^[A-Z]' collate "C") then
		return zone;
	end if;
	select string_agg(n.name, ', ' order by length(n.name), n.name) into near
	  from pg_timezone_names n
	 where n.name ~ '^[A-Z]' collate "C" and length(zone) > 4
	   and strpos(lower(n.name), lower(left(zone, -2))) > 0;
	raise exception 'the server has no time zone "%"', zone
		using errcode = 'RP003',
		      hint = case when length(near) < 200 then 'Similar names: ' || near
		             else 'pg_timezone_names lists the zones: '
		                  'expected a name such as Europe/Berlin' end;
end
$body$;
