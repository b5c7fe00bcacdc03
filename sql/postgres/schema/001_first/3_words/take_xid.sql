-- take_xid: give this transaction its id now, and return the time.
-- Each transaction must have its id before it draws a number of the ready line (from
-- the sequence `line`), because ticks rely on that. A tick records the last number, and
-- then a transaction id that was assigned later. So each number up to the recorded one
-- was drawn by a transaction with a smaller id. An insert alone would break this rule,
-- because it draws the number first and takes the id after that.
-- Result: clock_timestamp().
-- Locks: none.

create function readpast.take_xid() returns timestamptz
language sql volatile as $body$
select case when pg_catalog.pg_current_xact_id() is not null
            then pg_catalog.clock_timestamp() end
$body$;
