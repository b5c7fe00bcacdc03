-- offset_at: how far local time is ahead of UTC.
-- zone: the time zone; at: when.
-- Result: the offset.
-- Locks: none.

create function readpast.offset_at(zone text, at timestamptz) returns interval
language sql immutable
as $body$
select (at at time zone zone) operator(pg_catalog.-) (at at time zone 'UTC')
$body$;
