-- epoch_us: microseconds since 1970.

create function readpast.epoch_us(t timestamptz) returns bigint
language sql stable
as $body$
select (extract(epoch from t) operator(pg_catalog.*) 1000000)::bigint
$body$;
