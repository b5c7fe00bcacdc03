-- epoch_us: convert a time to microseconds since 1970.
-- t: the time, or null.
-- Result: microseconds, or null.
-- Locks: none.

create function readpast.epoch_us(t timestamptz) returns bigint
language sql stable
as $body$
select (extract(epoch from t) operator(pg_catalog.*) 1000000)::bigint
$body$;
