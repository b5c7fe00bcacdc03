-- to_ms: convert an interval to milliseconds.
-- i: the interval, or null.
-- Result: milliseconds, or null.
-- Locks: none.

create function readpast.to_ms(i interval) returns bigint
language sql immutable
as $body$
select pg_catalog.round(
           extract(epoch from i) operator(pg_catalog.*) 1000)::bigint
$body$;
