-- left_in: list the live and kept jobs of a queue.
-- queue_id: the queue, which may have been dropped.
-- Rows: one for each job. `live` is false if the job is in the archive.
-- Locks: none.

create function readpast.left_in(queue_id integer)
returns table (id bigint, live boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_column
begin
	return query
	select j.id, true
	  from readpast.job j
	 where j.lane_id between readpast.first_lane(left_in.queue_id)
	                     and readpast.last_lane(left_in.queue_id)
	   and j.seq is not null
	union all
	select j.id, true
	  from readpast.job j
	 where (j.queue_id, j.run_at) >= (left_in.queue_id, '-infinity')
	   and (j.queue_id, j.run_at) < (left_in.queue_id, 'infinity')
	   and j.seq is null and j.run_at < 'infinity'
	union all
	select w.job_id, true
	  from readpast.group_wait w
	 where w.queue_id = left_in.queue_id
	union all
	select a.id, false
	  from readpast.archive a
	 where a.queue_id = left_in.queue_id;
end
$body$;
