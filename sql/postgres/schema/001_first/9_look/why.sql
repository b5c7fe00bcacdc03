-- why: tell why a live job waits, or which worker runs it.
-- job_id: the job.
-- most: the count of the jobs ahead of this job stops at this number.
-- Rows: one, or none if there is no such live job.
--   ahead: how many ready jobs will be claimed before this job.
--   workers: how many live workers serve the job's queue and its kind.
--   queue_workers: how many live workers serve the job's queue, whatever kinds they
--     serve.
--   worker_id, host, pid: the worker that holds the job.
--   silent_ms: how long ago that worker was last seen.
--   renewed: how many times that worker has renewed the lease.
--   run_limit: how many jobs of the queue may run at once. 0: any number.
--   running: how many jobs of the queue run. 0 if there is no limit.
--   held_until .. rate_in_ms: the columns of why_limited().
-- Locks: none.

create function readpast.why(job_id bigint, most integer default 1000)
returns table (now timestamptz, paused_at timestamptz, pause_reason text,
               ahead bigint,
               suspect boolean, workers bigint, queue_workers bigint,
               worker_id bigint, host text, pid bigint, silent_ms bigint,
               renewed integer, run_limit integer, running bigint,
               held_until timestamptz, group_held_until timestamptz,
               group_limit integer, group_busy bigint, group_ahead bigint,
               group_waiting bigint, group_next text, rate_count integer, rate_ms bigint,
               rate_in_ms bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	its  record;
	lane record;
	n    bigint;
begin
	now := clock_timestamp();
	select j.lane_id, coalesce(j.seq, readpast.line_end()) as seq,
	       q.name || '/' as any_kind, q.name || '/' || j.kind as kind,
	       q.name, q.paused_at, q.pause_reason, j.worker_id, j.renewed
	  into its
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 where j.id = why.job_id;
	if not found then
		return;
	end if;
	ahead := 0;
	for lane in
		select l.lane_id
		  from unnest(readpast.lanes_of(readpast.queue_of(its.lane_id))) as l(lane_id)
		 where l.lane_id <= its.lane_id
	loop
		select count(*) into n
		  from (select 1
		          from readpast.job j
		         where j.lane_id = lane.lane_id
		           and j.seq >= readpast.claims_start(lane.lane_id)
		           and j.seq < case when lane.lane_id = its.lane_id
		                            then its.seq
		                            else readpast.line_end() end
		           and j.lease_until is null
		         order by j.lane_id, j.seq
		         limit most - ahead) a;
		ahead := ahead + n;
	end loop;
	select count(*) filter (where s.kinds ?| array[its.any_kind, its.kind]),
	       count(*)
	  into workers, queue_workers
	  from readpast.worker s
	 where s.stopped_at is null and s.queues ? its.name
	   and s.seen_at > now - readpast.seen_age();
	select w.host, w.pid,
	       greatest(readpast.to_ms(now - w.seen_at), 0)
	  into host, pid, silent_ms
	  from readpast.worker w
	 where w.id = its.worker_id;
	paused_at := its.paused_at;
	pause_reason := its.pause_reason;
	suspect := readpast.class_of(its.lane_id) = 1;
	worker_id := its.worker_id;
	renewed := its.renewed;
	select l.* into run_limit, running, held_until, group_held_until, group_limit, group_busy, group_ahead,
	                group_waiting, group_next, rate_count, rate_ms, rate_in_ms
	  from readpast.why_limited(job_id, most) l;
	return next;
end
$body$;
