-- sweep_rest: do the last two steps of a sweep: move jobs out of dropped queues, and
-- notify waiters of ready jobs if the first notification was missed.
-- Locks: rows of `dropped` and `waiter`, and the jobs that the routine moves. Rows that
-- other transactions have locked are skipped.

create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.sweep_dropped();
	perform readpast.notify_waiters();
end
$body$;
