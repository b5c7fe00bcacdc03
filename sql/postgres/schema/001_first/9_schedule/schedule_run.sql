-- schedule_run: put in a job of a schedule at once. That changes none of its times.
-- name: its name.
-- Result: the job's id, or the id of the live job, if `overlap` is `skip` and there is one.
-- RP005: there is no such schedule; RP003, RP004: as enqueue() says.
-- Locks: the schedule's row, and those of enqueue().

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
