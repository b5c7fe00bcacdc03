-- check_schedule: raise an error if an argument of schedule_set() is wrong.
-- parse_spec() checks the spec, and need_zone() checks the time zone.
-- name .. overlap: the arguments of schedule_set() with these names.
-- Result: none. SQLSTATE RP003: an argument is wrong.
-- Locks: none.

create function readpast.check_schedule(
	name text, queue text, payload bytea, kind text, headers jsonb,
	priority integer, missed text, overlap text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.need_name('the schedule''s name', name, :most_name, true);
	perform readpast.need_name('the queue''s name', queue, :most_name, true);
	if missed in ('once', 'all', 'skip') is not true then
		raise exception 'missed must be once, all or skip' using errcode = 'RP003';
	elsif overlap in ('allow', 'skip') is not true then
		raise exception 'overlap must be allow or skip' using errcode = 'RP003';
	end if;
	perform readpast.check_job(payload, priority, null, null, null, kind, null,
	                           false);
	perform readpast.need_object(headers::json);
end
$body$;
