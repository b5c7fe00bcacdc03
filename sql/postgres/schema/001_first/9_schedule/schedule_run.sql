-- schedule_run: add a job of a schedule now. The time of the next fire does not change.
-- name: the name of the schedule.
-- Result: the id of the new job. If `overlap` of the schedule is `skip` and a job of
-- the schedule is live, no job is added, and the result is the id of the live job.
-- SQLSTATE RP005: there is no such schedule. SQLSTATE RP003, RP004: see enqueue().
-- Locks: the schedule's row, and the rows that enqueue() locks.

create function readpast.schedule_run(name text) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it readpast.schedule := readpast.need_schedule(name);
begin
	return readpast.enqueue(
		it.queue, it.content, it.priority, kind => it.kind,
		headers => readpast.fire_headers(
		               it, date_trunc('milliseconds', clock_timestamp()), 0)
		           || jsonb_build_object(readpast.header_name('manual'), 'true'),
		unique_key => case when it.overlap = 1 then 'cron:' || it.name end);
end
$body$;
