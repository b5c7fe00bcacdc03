-- young: Is this transaction so young that the numbers of the line that it has
-- drawn need no note in `stray`, and that it may leave marks?

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) interval '100 milliseconds')
$body$;
