-- expire: end the attempts of jobs whose leases ran out. A job that has used up its
-- attempts is dead. Any other job is ready again, and goes before the normal jobs of
-- its priority. If its lease ran out twice in a row, or if its next attempt is the last
-- one, the job becomes a suspect. A suspect may have killed its workers, so only a
-- worker that holds no other job may claim it. A job that is ready again keeps its
-- claim number until the next claim, so a late verdict of its worker is accepted until
-- then. Clients that wait for one of the jobs are notified.
-- ids: the jobs, which the caller has locked.
-- Rows: one for each job, which says whether the job is dead.
-- Locks: a row of `waiter` for each queue where workers wait, and for each dead job the
-- rows that put_dead() and leave_group() lock.

create function readpast.expire(ids bigint[])
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	before bigint := (select s.last_value from readpast.line s);
begin
	return query
	with over as materialized (
		select * from readpast.lost_leases(ids)),
	died as (
		delete from readpast.job j
		 using over o
		 where j.id = o.id and o.dead
		returning j.*, o.worker, o.error, o.failures as all_failures),
	kept as (
		insert into readpast.archive
		       (id, queue_id, state, finished_at, priority, run_at, claim_no,
		        attempt, max_attempts, worker, created_at, unique_key, kind,
		        headers, payload, last_error, failures, extra, group_key)
		select d.id, d.queue_id, 5, clock_timestamp(),
		       readpast.priority_of(d.lane_id),
		       readpast.ready_at(d.run_at, d.lease_until, d.claim_no), d.claim_no,
		       d.attempt, d.max_attempts, d.worker, d.created_at,
		       d.unique_key, d.kind, d.headers, d.payload, d.error,
		       d.all_failures, d.extra, d.group_key
		  from died d),
	back as (
		update readpast.job j
		   set lane_id = o.lane_id,
		       seq = o.seq,
		       run_at = clock_timestamp(),
		       lease_until = null,
		       renewed = 0,
		       lost = j.lost + 1,
		       last_error = o.error,
		       failures = o.failures
		  from (select o.*, nextval('readpast.line') as seq
		          from over o
		         where not o.dead
		         order by o.lease_until, o.id) o
		 where j.id = o.id)
	select o.id, o.dead from over o;

	perform readpast.count_dead(array(
		select a.queue_id from readpast.archive a where a.id = any (ids)));
	perform readpast.leave_group(a.queue_id, a.priority, a.group_key, null, a.id)
	   from readpast.archive a
	  where a.id = any (ids) and a.group_key is not null;
	perform readpast.put_dead(a.id, q.dead_to)
	   from readpast.queue q, readpast.archive a
	  where q.dead_to is not null and a.queue_id = q.id and a.id = any (ids);
	perform readpast.notify_job_waiters(ids);
	perform readpast.note_moved(ids, before);
	perform readpast.open_lane(l.lane_id), readpast.wake(l.queue_id)
	   from (select distinct j.lane_id, j.queue_id
	           from readpast.job j
	          where j.id = any (ids)) l;
end
$body$;
