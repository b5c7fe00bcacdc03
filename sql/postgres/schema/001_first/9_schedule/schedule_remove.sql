-- schedule_remove: delete a schedule. The jobs that it enqueued stay.
-- name: the name of the schedule.
-- Result: none. SQLSTATE RP005: there is no such schedule.
-- Locks: the schedule's row.

create function readpast.schedule_remove(name text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	delete from readpast.schedule s where s.name = schedule_remove.name;
	if not found then
		raise exception 'no schedule named %', name using errcode = 'RP005';
	end if;
end
$body$;
