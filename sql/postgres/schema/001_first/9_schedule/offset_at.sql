-- offset_at: return how far the local time of a zone is ahead of UTC.
-- zone: the name of the time zone.
-- at: the time for which the offset is computed.
-- Result: the offset.
-- Locks: none.

create function readpast.offset_at(zone text, at timestamptz) returns interval
language sql immutable
as $body$
select (at at time zone zone) operator(pg_catalog.-) (at at time zone 'UTC')
$body$;
