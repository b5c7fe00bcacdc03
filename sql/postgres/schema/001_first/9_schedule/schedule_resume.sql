-- schedule_resume: end the pause of a schedule. The schedule fires again at the next
-- time that its spec names. Times that passed during the pause get no job.
-- name: the name of the schedule.
-- Result: the time of the next fire. SQLSTATE RP005: there is no such schedule.
-- Locks: the schedule's row.

create function readpast.schedule_resume(name text) returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it readpast.schedule := readpast.need_schedule(name);
begin
	if it.paused_at is not null then
		it.next_at := readpast.next_fire(it.sets, it.zone, it.anchor,
		                                 clock_timestamp());
		perform readpast.set_pause(name, false, it.next_at);
	end if;
	return it.next_at;
end
$body$;
