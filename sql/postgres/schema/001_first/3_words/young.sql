-- young: is this transaction younger than young_age()? A young transaction may append
-- cursors, and need not add a row to `recheck` for the numbers that it draws.
-- Result: true if this transaction is young.
-- Locks: none.

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) readpast.young_age())
$body$;
