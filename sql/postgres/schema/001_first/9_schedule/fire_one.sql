-- fire_one: put the job of one fire of a schedule into the schedule's queue.
-- s: the schedule.
-- due: the time of the fire.
-- missed: how many fires were missed, for a header of the job. 0: no header.
-- Result:
--   job_id: the new job. Null: no job was added.
--   why: if job_id is null, the reason.
-- Locks: the rows that put_unless_live() and queue_create() lock. The call waits for an
-- open transaction that creates the same queue or adds a job of the same schedule.

create function readpast.fire_one(s readpast.schedule, due timestamptz,
                                  missed integer,
                                  out job_id bigint, out why text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	headers jsonb := readpast.fire_headers(s, due, missed);
	size   bigint := octet_length(s.content);
begin
	for i in 1..2 loop
		select p.job_id, p.why into job_id, why
		  from readpast.put_unless_live(
		           s.queue, s.priority,
		           case when s.overlap = 1 then 'cron:' || s.name end, s.kind,
		           headers::json, s.content) p;
		exit when coalesce(job_id::text, why) is not null;
		select format('payload too large: %s bytes, queue %s takes at most %s',
		              size, s.queue, q.max_payload)
		  into why
		  from readpast.queue q
		 where q.name = s.queue and q.max_payload < size;
		exit when found;
		perform readpast.queue_create(s.queue);
	end loop;
end
$body$;
