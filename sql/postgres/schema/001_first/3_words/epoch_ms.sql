-- epoch_ms: milliseconds since 1970.

create function readpast.epoch_ms(t timestamptz) returns bigint
language sql stable
as $body$
select pg_catalog.floor(
           extract(epoch from t) operator(pg_catalog.*) 1000)::bigint
$body$;
