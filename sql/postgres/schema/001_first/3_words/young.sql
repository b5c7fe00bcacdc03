-- young: is this transaction younger than young_age()? If a transaction draws a number
-- of the ready line and commits late, claims may already start after this number. Then
-- only a sweep finds the job. Sweeps know which numbers a transaction may draw while it
-- is young, see open_ranges(). For each number that it draws later, the transaction must
-- add a row to `recheck`.
-- A claim also asks this if its transaction may stay open. If the transaction is not
-- young, the claim appends no cursor, because others would see the cursor too late.
-- Result: true if this transaction is young.
-- Locks: none.

create function readpast.young() returns boolean
language sql volatile as $body$
select pg_catalog.clock_timestamp() operator(pg_catalog.<)
       (pg_catalog.now() operator(pg_catalog.+) readpast.young_age())
$body$;
