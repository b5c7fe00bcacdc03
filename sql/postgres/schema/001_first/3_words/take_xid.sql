-- take_xid: give this transaction its id now, and return the time.
-- Each transaction must have its id before it draws a number of the ready line from
-- the sequence `line`. Ticks rely on this rule. A tick (a row of the table `tick`)
-- records the last number that was drawn, and a transaction id that was assigned
-- later. By the rule, each number up to the recorded one was drawn by a transaction
-- with a smaller id than the recorded id. An insert alone would break the rule,
-- because it draws the number before its transaction gets an id.
-- Result: clock_timestamp().
-- Locks: none.

create function readpast.take_xid() returns timestamptz
language sql volatile as $body$
select case when pg_catalog.pg_current_xact_id() is not null
            then pg_catalog.clock_timestamp() end
$body$;
