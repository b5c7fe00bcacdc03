-- fire_headers: return the headers of a job that a schedule enqueues.
-- s: the schedule.
-- due: the time of the fire.
-- missed: the value of the header `missed`. 0: the job gets no such header.
-- Result: the headers that the user gave the schedule, and the headers `schedule` (the
-- schedule's name), `scheduled-for` (`due`) and `missed`. The names of these three
-- begin with the prefix that header_name() adds.
-- Locks: none.

create function readpast.fire_headers(s readpast.schedule, due timestamptz,
                                      missed integer)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return coalesce(s.headers::jsonb, '{}') || jsonb_build_object(
		readpast.header_name('schedule'), s.name,
		readpast.header_name('scheduled-for'),
		to_char(due at time zone 'UTC',
		        case when extract(milliseconds from due)::bigint % 1000 = 0
		             then 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
		             else 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"' end))
		|| case when missed > 0
		        then jsonb_build_object(readpast.header_name('missed'),
		                                missed::text)
		        else '{}' end;
end
$body$;
