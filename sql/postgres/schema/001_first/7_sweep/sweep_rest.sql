-- sweep_rest: do the last three steps that a sweep does for jobs. First, if jobs were
-- enqueued in a queue while it was dropped, move them into a new queue of the same
-- name. Second, admit jobs of groups, see sweep_groups(). Third, notify waiters
-- (workers that wait for a notification) of queues that have ready jobs, because these
-- workers may have missed an earlier notification.
-- Locks: rows of `dropped` and `waiter`, the jobs that are moved, and the rows that
-- sweep_groups() locks. Rows that other transactions have locked are skipped.

create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.sweep_dropped();
	perform readpast.sweep_groups();
	perform readpast.notify_waiters();
end
$body$;
