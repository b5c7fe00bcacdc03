-- at_ms: convert milliseconds since 1970 to a time.
-- n: milliseconds, or null.
-- Result: the time, or null.
-- Locks: none.

create function readpast.at_ms(n bigint) returns timestamptz
language sql stable
as $body$
select timestamp with time zone '1970-01-01 00:00:00+00' operator(pg_catalog.+)
       (n operator(pg_catalog.*) interval '1 millisecond')
$body$;
