-- take_xid: give this transaction its id now, and return the time.
--
-- Invariant: a transaction has its id before it draws a number of the ready line
-- (sequence `line`). Ticks rely on it. A tick reads the last number first and the next
-- transaction id after that, so every number up to the first was drawn by a transaction
-- whose id is below the second. An insert alone would break the invariant: it takes the
-- id after it has drawn the number.
-- Result: clock_timestamp().
-- Locks: none.

create function readpast.take_xid() returns timestamptz
language sql volatile as $body$
select case when pg_catalog.pg_current_xact_id() is not null
            then pg_catalog.clock_timestamp() end
$body$;
