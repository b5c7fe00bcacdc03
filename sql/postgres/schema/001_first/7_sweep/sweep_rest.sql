-- sweep_rest: do the last two steps of a sweep. They move jobs out of dropped queues,
-- and notify waiters of ready jobs if the first notification was missed.
-- Locks: rows of `dropped` and `waiter`, and the jobs that it moves. It skips rows that
-- others have locked.

create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.sweep_dropped();
	perform readpast.notify_waiters();
end
$body$;
