-- live_job: find a live job of a queue. A client that waits until a queue is empty
-- waits for the end of this job, and then calls this routine again, until there is no
-- live job. The routine chooses a job that will probably end late, so that the client
-- needs few calls. It first looks for the latest run_at among the scheduled jobs and
-- the running jobs that have left the ready line. (The run_at of such a running job is
-- the end of its lease.) If there are no such jobs, it chooses a job that waits for its
-- group. If there is none, it chooses the last job of the ready line.
-- queue_id: the queue.
-- Result: the id of the job, or null if the queue has no live job.
-- Locks: none.

create function readpast.live_job(queue_id integer) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
#variable_conflict use_variable
declare
	found bigint;
begin
	select j.id into found
	  from readpast.job j
	 where (j.queue_id, j.run_at) >= (live_job.queue_id, '-infinity')
	   and (j.queue_id, j.run_at) < (live_job.queue_id, 'infinity')
	   and j.seq is null and j.run_at < 'infinity'
	 order by j.queue_id desc, j.run_at desc
	 limit 1;
	if found is null then
		found := (select w.job_id
		            from readpast.group_wait w
		           where w.queue_id = live_job.queue_id
		           order by w.queue_id, w.group_key
		           limit 1);
	end if;
	if found is not null then
		return found;
	end if;
	return (select l.id
	          from readpast.live_ranges(queue_id) r,
	               lateral (select j.id, j.seq
	                          from readpast.job j
	                         where j.lane_id = r.lane_id
	                           and j.seq >= r.first and j.seq < r.past
	                         order by j.lane_id desc, j.seq desc
	                         limit 1) l
	         order by l.seq desc
	         limit 1);
end
$body$;
