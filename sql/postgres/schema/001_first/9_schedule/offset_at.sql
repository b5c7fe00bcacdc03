-- offset_at: return how far the local time of a zone is ahead of UTC.
-- zone: the name of the time zone.
-- at: the time for which the offset is computed.
-- Result: the offset.
-- `at time zone` takes some names of zones for abbreviations, which have a fixed offset,
-- without summer time. EST even has another offset with some values of
-- timezone_abbreviations. So these names are replaced by zones with the same rules. In
-- the IANA database they are links to these zones since version 2024b.
-- Locks: none.

create function readpast.offset_at(zone text, at timestamptz) returns interval
language sql immutable
as $body$
select (at at time zone coalesce(
	'{"CET": "Europe/Brussels", "EET": "Europe/Athens", "EST": "America/Panama",
	  "HST": "Pacific/Honolulu", "MET": "Europe/Brussels",
	  "MST": "America/Phoenix", "WET": "Europe/Lisbon"}'::pg_catalog.jsonb
	operator(pg_catalog.->>) zone, zone))
	operator(pg_catalog.-) (at at time zone 'UTC')
$body$;
