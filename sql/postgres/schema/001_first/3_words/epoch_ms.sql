-- epoch_ms: convert a time to milliseconds since 1970, rounded down.
-- t: the time, or null.
-- Result: milliseconds, or null.
-- Locks: none.

create function readpast.epoch_ms(t timestamptz) returns bigint
language sql stable
as $body$
select pg_catalog.floor(
           extract(epoch from t) operator(pg_catalog.*) 1000)::bigint
$body$;
