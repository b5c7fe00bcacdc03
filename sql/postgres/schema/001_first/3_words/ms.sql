-- ms: convert a number of milliseconds to an interval.
-- n: milliseconds, or null.
-- Result: the interval, or null.
-- Locks: none.

create function readpast.ms(n bigint) returns interval
language sql immutable
as $body$
select n operator(pg_catalog.*) interval '1 millisecond'
$body$;
