-- epoch_us: the microseconds from the start of 1970 to a time.
-- t: the time; null is allowed.
-- Result: microseconds, or null.
-- Locks: none.

create function readpast.epoch_us(t timestamptz) returns bigint
language sql stable
as $body$
select (extract(epoch from t) operator(pg_catalog.*) 1000000)::bigint
$body$;
