-- keep_done: copy done jobs of queues that keep them into the archive.
-- ids, claim_nos, verdicts: as of settle(); all verdicts but `done` are ignored.
-- Locks: the jobs of all the verdicts, for update, in the order of their ids.

create function readpast.keep_done(ids bigint[], claim_nos bigint[],
                                   verdicts bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	any_kept boolean;
begin
	select bool_or(q.keep_done_ms > 0) into any_kept
	  from (select j.queue_id
	          from (select v.id from unnest(ids) as v(id) order by v.id) v
	          join readpast.job j on j.id = v.id
	           for update of j) l
	  join readpast.queue q on q.id = l.queue_id;
	-- The archive's trigger runs even for an insert of no rows, so do not
	-- insert if no job is kept.
	if any_kept is not true then
		return;
	end if;
	insert into readpast.archive
	       (id, queue_id, state, finished_at, priority, run_at, claim_no,
	        attempt, max_attempts, worker, created_at, unique_key, kind,
	        headers, payload, last_error, failures, keep_ms, timeout_ms,
	        expire_at, backoff, unique_for_ms)
	select j.id, j.queue_id, 4, clock_timestamp(),
	       readpast.priority_of(j.lane_id), j.run_at, j.claim_no, j.attempt,
	       j.max_attempts, w.name, j.created_at, j.unique_key, j.kind,
	       j.headers, j.payload, j.last_error, j.failures,
	       j.keep_ms, j.timeout_ms, j.expire_at, j.backoff, j.unique_for_ms
	  from unnest(ids, claim_nos, verdicts) as v(id, claim_no, verdict)
	  join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
	                     and j.worker_id is not null
	  join readpast.queue q on q.id = j.queue_id and q.keep_done_ms > 0
	  left join readpast.worker w on w.id = j.worker_id
	 where coalesce(v.verdict, 0) = 0
	    on conflict do nothing;
end
$body$;
