-- expire: The leases of these jobs ran out: that ends their attempts. Each is
-- in line again: at the front; as a suspect, if its lease before that ran out,
-- too, or its next attempt is the last. If that was the last one it is dead.
-- The claim number stays: until somebody claims the job, its late holder's
-- verdict is good. The failure says who had the job, and when it was heard of
-- for the last time. The rows are locked by the caller.

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
		select j.id, j.attempt >= j.max_attempts as dead, j.lease_until,
		       readpast.with_class(
		           j.lane_id, case when j.lost > 0
		                             or j.attempt + 1 >= j.max_attempts
		                           then 1 else 0 end) as lane_id,
		       w.name as worker, e.error,
		       case when jsonb_array_length(j.failures) >= 10
		            then j.failures - 0
		            else coalesce(j.failures, '[]') end
		       || jsonb_build_array(jsonb_build_object(
		              'attempt', j.attempt,
		              'at', readpast.epoch_ms(clock_timestamp()),
		              'worker', w.name, 'host', w.host,
		              'seen_at', greatest(readpast.epoch_ms(w.seen_at),
		                                  j.claim_no / 1000),
		              'text', e.error)) as failures
		  from readpast.job j
		  left join readpast.worker w on w.id = j.worker_id,
		       lateral (select format('lease ran out, attempt %s of %s',
		                              j.attempt, j.max_attempts) as error) e
		 where j.id = any (ids)),
	died as (
		delete from readpast.job j
		 using over o
		 where j.id = o.id and o.dead
		returning j.*, o.worker, o.error, o.failures as all_failures),
	kept as (
		insert into readpast.archive
		       (id, queue_id, state, finished_at, priority, run_at, claim_no,
		        attempt, max_attempts, worker, created_at, unique_key, kind,
		        headers, payload, last_error, failures)
		select d.id, d.queue_id, 5, clock_timestamp(),
		       readpast.priority_of(d.lane_id), d.run_at, d.claim_no,
		       d.attempt, d.max_attempts, d.worker, d.created_at,
		       d.unique_key, d.kind, d.headers, d.payload, d.error,
		       d.all_failures
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

	perform readpast.note_moved(ids, before);
	perform readpast.open_lane(l.lane_id), readpast.wake(l.queue_id)
	   from (select distinct j.lane_id, j.queue_id
	           from readpast.job j
	          where j.id = any (ids)) l;
end
$body$;
