-- sweep_rest: do the last two steps that a sweep does for jobs. If jobs were enqueued
-- in a queue while it was dropped, the first step moves them into a new queue of the
-- same name. The second step notifies waiters (workers that wait for a notification) of
-- queues that have ready jobs, because these workers may have missed an earlier
-- notification.
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
