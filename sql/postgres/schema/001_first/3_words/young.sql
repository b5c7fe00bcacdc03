-- young: is this transaction younger than young_age()? Claims may pass a number of the
-- ready line before the transaction that drew this number commits. Sweeps take care of
-- the numbers that a transaction draws while it is young, see open_ranges(). For a
-- number that it draws later, the transaction itself must add a row to `recheck`, so
-- that a sweep finds the job. If the transaction of a claim may stay open and is older
-- than young_age(), the claim also appends no cursor, because other transactions would
-- see the cursor too late.
-- Result: true if this transaction is young.
-- Locks: none.

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) readpast.young_age())
$body$;
