-- epoch_ms: the milliseconds from the start of 1970 to a time, rounded down.
-- t: the time; null is allowed.
-- Result: milliseconds, or null.
-- Locks: none.

create function readpast.epoch_ms(t timestamptz) returns bigint
language sql stable
as $body$
select pg_catalog.floor(
           extract(epoch from t) operator(pg_catalog.*) 1000)::bigint
$body$;
