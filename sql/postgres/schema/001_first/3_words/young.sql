-- young: is this transaction younger than young_age()? Other transactions see a job
-- only after the commit of the transaction that added it. If this commit comes while
-- the transaction is young, claims have not yet passed the job. A transaction that is
-- older adds a row to `recheck` for its jobs, so that a sweep finds them. Such a
-- transaction also appends no cursor, because other transactions would see the cursor
-- too late.
-- Result: true if this transaction is young.
-- Locks: none.

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) readpast.young_age())
$body$;
