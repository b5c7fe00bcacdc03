-- at_us: convert microseconds since 1970 to a time.
-- n: microseconds, or null.
-- Result: the time, or null.
-- Locks: none.

create function readpast.at_us(n bigint) returns timestamptz
language sql stable
as $body$
select timestamp with time zone '1970-01-01 00:00:00+00' operator(pg_catalog.+)
       (n operator(pg_catalog.*) interval '1 microsecond')
$body$;
