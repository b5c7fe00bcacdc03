-- put_away: move a live job to the archive.
-- id: the job.
-- state: 5 dead, 6 cancelled.
-- error: the reason, or null. If the job is dead, the routine adds the reason to the
-- job's list of failed attempts.
-- Locks: the job's row, which the caller has locked already, and the rows that
-- leave_group() locks.

create function readpast.put_away(id bigint, state integer, error text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	died  boolean := state = 5;
	its   record;
	since timestamptz;
begin
	with gone as (
		delete from readpast.job j where j.id = put_away.id returning j.*)
	insert into readpast.archive
	       (id, queue_id, state, finished_at, priority, run_at, claim_no,
	        attempt, max_attempts, worker, created_at, unique_key, kind,
	        headers, payload, last_error, failures, extra, group_key)
	select g.id, g.queue_id, put_away.state, clock_timestamp(),
	       readpast.priority_of(g.lane_id),
	       readpast.ready_at(g.run_at, g.lease_until, g.claim_no), g.claim_no, g.attempt,
	       g.max_attempts, w.name, g.created_at, g.unique_key, g.kind,
	       g.headers, g.payload, case when died then error
	                           else coalesce(error, g.last_error) end,
	       case when died
	            then readpast.with_failure(g.failures, g.attempt, g.worker_id,
	                                       error)
	            else g.failures end,
	       g.extra, g.group_key
	  from gone g
	  left join readpast.worker w on w.id = g.worker_id
	returning readpast.archive.queue_id, readpast.archive.priority,
	          readpast.archive.group_key, (select g.came from gone g) as came into its;
	if its.group_key is not null then
		since := readpast.leave_group(its.queue_id, its.priority, its.group_key, its.came,
		                              id);
		update readpast.archive a
		   set run_at = since
		 where a.id = put_away.id and since is not null;
	end if;
end
$body$;
