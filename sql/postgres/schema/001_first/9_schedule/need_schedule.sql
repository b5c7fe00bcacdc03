-- need_schedule: find a schedule by its name, and lock it.
-- name: the name of the schedule.
-- Result: the schedule's row. SQLSTATE RP005: there is no such schedule.
-- Locks: the schedule's row.

create function readpast.need_schedule(name text) returns readpast.schedule
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it readpast.schedule;
begin
	select * into it from readpast.schedule s
	 where s.name = need_schedule.name
	   for update;
	if not found then
		raise exception 'no schedule named %', name using errcode = 'RP005';
	end if;
	return it;
end
$body$;
