-- take_xid: give this transaction its id now, and answer the time.
-- Invariant: a transaction has its id before it draws a number of the ready line
-- (sequence `line`). Only then is it true for each tick, which reads the sequence first
-- and the next transaction id second, that numbers up to the one were drawn by
-- transactions below the other. An insert by itself would take the id too late: after it
-- has drawn the number.
-- Result: clock_timestamp().
-- Locks: none.

create function readpast.take_xid() returns timestamptz
language sql volatile as $body$
select case when pg_catalog.pg_current_xact_id() is not null
            then pg_catalog.clock_timestamp() end
$body$;
