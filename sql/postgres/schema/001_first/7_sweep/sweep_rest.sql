-- sweep_rest: take over jobs of dropped queues, and send notifications that are due.
-- Locks: those of sweep_dropped() and notify_waiters().

create function readpast.sweep_rest() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.sweep_dropped();
	perform readpast.notify_waiters();
end
$body$;
