-- lost_leases: decide which of the jobs whose leases ran out are dead, and into which
-- lanes the other jobs go.
-- ids: the jobs, which the caller has locked.
-- Rows: one for each job. The row says whether the job is dead, into which lane it goes
-- if it is not dead, and which failure to record. The failure names the worker that had
-- the job and says when that worker was last seen.
-- Locks: none.

create function readpast.lost_leases(ids bigint[])
returns table (id bigint, dead boolean, lease_until timestamptz, lane_id bigint,
               worker text, error text, failures jsonb)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	return query
	select j.id, j.attempt >= j.max_attempts, j.lease_until,
	       readpast.with_class(
	           j.lane_id, case when j.lost > 0
	                             or j.attempt + 1 >= j.max_attempts
	                           then 1 else 0 end),
	       w.name, e.error,
	       case when jsonb_array_length(j.failures) >= readpast.most_failures()
	            then j.failures - 0
	            else coalesce(j.failures, '[]') end
	       || jsonb_build_array(jsonb_build_object(
	              'attempt', j.attempt,
	              'at', readpast.epoch_ms(clock_timestamp()),
	              'worker', w.name, 'host', w.host,
	              'seen_at', greatest(readpast.epoch_ms(w.seen_at),
	                                  j.claim_no / 1000),
	              'text', e.error))
	  from readpast.job j
	  left join readpast.worker w on w.id = j.worker_id,
	       lateral (select format('lease ran out, attempt %s of %s',
	                              j.attempt, j.max_attempts) as error) e
	 where j.id = any (ids);
end
$body$;
