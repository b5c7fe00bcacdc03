-- schedule_pause: pause a schedule, so that it does not fire. If the schedule is paused
-- already, nothing changes.
-- name: the name of the schedule.
-- Result: none. SQLSTATE RP005: there is no such schedule.
-- Locks: the schedule's row.

create function readpast.schedule_pause(name text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it readpast.schedule := readpast.need_schedule(name);
begin
	update readpast.schedule s
	   set paused_at = coalesce(s.paused_at, clock_timestamp())
	 where s.id = it.id;
end
$body$;
