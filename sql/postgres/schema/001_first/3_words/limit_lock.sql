-- limit_lock: return the first of the two numbers that identify the advisory lock of a
-- queue with a run_limit or a rate. The second number is the queue's id.
-- Result: the number.
-- Locks: none.

create function readpast.limit_lock() returns integer
language sql immutable as $body$
select pg_catalog.hashtext('readpast.slot')
$body$;
