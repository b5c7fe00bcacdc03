-- schedule_run: add a job of a schedule at once. The times of the schedule do not
-- change.
-- name: the name of the schedule.
-- Result: the job's id. If `overlap` of the schedule is `skip` and a job of the
-- schedule is live, the id of that job. RP005: there is no such schedule. RP003, RP004:
-- see enqueue().
-- Locks: the schedule's row, and the same rows as enqueue().

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
