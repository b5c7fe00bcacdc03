-- ms: an interval of n milliseconds.

create function readpast.ms(n bigint) returns interval
language sql immutable
as $body$
select n operator(pg_catalog.*) interval '1 millisecond'
$body$;
