-- young: is this transaction younger than young_age()? Other transactions see a cursor,
-- or a job, only when the transaction that added it has committed. After a young
-- transaction this is soon enough: claims have not yet passed its jobs. An older
-- transaction appends no cursor, and adds a row to `recheck` for the jobs that it adds.
-- Result: true if this transaction is young.
-- Locks: none.

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) readpast.young_age())
$body$;
