-- keep_done: copy done jobs and their results into the archive, if the jobs must be
-- kept. A job's own keep_ms decides whether the job is kept. If keep_ms is null, the
-- queue's setting decides. The routine also notifies clients that wait for one of the
-- jobs.
-- ids, claim_nos, verdicts, results: the parameters of settle(). Only jobs with the
-- verdict `done` are copied.
-- Locks: the jobs' rows, for update, in the order of their ids.

create function readpast.keep_done(ids bigint[], claim_nos bigint[],
                                   verdicts bigint[], results bytea[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	any_kept     boolean;
	job_waiters_until timestamptz;
begin
	select bool_or(coalesce((l.extra).keep_ms, q.keep_done_ms) > 0), max(q.job_waiters_until)
	  into any_kept, job_waiters_until
	  from (select j.queue_id, j.extra
	          from (select v.id, v.claim_no
	                  from unnest(ids, claim_nos) as v(id, claim_no)
	                 order by v.id) v
	          join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
	           for update of j) l
	  join readpast.queue q on q.id = l.queue_id;
	if job_waiters_until > clock_timestamp() then
		perform readpast.notify_job_waiters(ids);
	end if;
	-- Insert only if a job is kept, because even an insert of no rows would run the
	-- archive's trigger.
	if any_kept is not true then
		return;
	end if;
	insert into readpast.archive
	       (id, queue_id, state, finished_at, priority, run_at, claim_no,
	        attempt, max_attempts, worker, created_at, unique_key, kind,
	        headers, payload, last_error, failures, extra, group_key, result)
	select j.id, j.queue_id, 4, clock_timestamp(),
	       readpast.priority_of(j.lane_id),
	       case when j.came is null
	            then readpast.ready_at(j.run_at, j.lease_until, j.claim_no)
	            else readpast.waits_since(j) end,
	       j.claim_no, j.attempt,
	       j.max_attempts, w.name, j.created_at, j.unique_key, j.kind,
	       j.headers, j.payload, j.last_error, j.failures, j.extra,
	       j.group_key, v.result
	  from unnest(ids, claim_nos, verdicts, results)
	       as v(id, claim_no, verdict, result)
	  join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
	                     and j.worker_id is not null
	  join readpast.queue q on q.id = j.queue_id
	                       and coalesce((j.extra).keep_ms, q.keep_done_ms) > 0
	  left join readpast.worker w on w.id = j.worker_id
	 where coalesce(v.verdict, 0) = 0
	    on conflict do nothing;
end
$body$;
