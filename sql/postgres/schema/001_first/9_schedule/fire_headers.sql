-- fire_headers: make the headers of a job that a schedule adds.
-- s: the schedule.
-- due: the instant that the job is for.
-- missed: a number for the header `missed`, or 0 for no such header.
-- Result: the schedule's own headers, and those that each of its jobs gets.
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
