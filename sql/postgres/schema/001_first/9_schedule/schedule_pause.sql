-- schedule_pause: pause a schedule, so that it does not fire. If `readpast copy` is
-- copying the schedule and has already paused it, the schedule stays paused when the
-- copy ends, see set_pause().
-- name: the name of the schedule.
-- Result: none. SQLSTATE RP005: there is no such schedule.
-- Locks: the schedule's row.

create function readpast.schedule_pause(name text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.need_schedule(name);
	perform readpast.set_pause(name, true, null);
end
$body$;
