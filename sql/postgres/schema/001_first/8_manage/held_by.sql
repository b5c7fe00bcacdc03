-- held_by: list the jobs that a worker claimed recently and still holds. A worker calls
-- this routine if the server's answer to a claim was lost. The routine also finds jobs
-- that a sweep has taken out of the ready line after the claim.
-- worker_id: the worker.
-- queues: the queues to search. The routine reads up to held_scan() jobs of each lane
-- (a queue, a priority and a class, see lane_of()). Of each queue it also reads up to
-- held_scan() jobs that are not in the ready line.
-- Rows: the jobs, with their claim numbers.
-- Locks: none.

create function readpast.held_by(worker_id bigint, queues text[])
returns table (id bigint, claim_no bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
#variable_conflict use_column
begin
	return query
	select h.id, h.claim_no
	  from readpast.queue q,
	       lateral (
	           select i.*
	             from unnest(readpast.lanes_of(q.id)) as l(id),
	                  lateral (select j.id, j.claim_no, j.worker_id, j.lease_until
	                             from readpast.job j
	                            where j.lane_id = l.id
	                              and j.seq >= readpast.low_water(l.id)
	                            order by j.lane_id, j.seq
	                            limit readpast.held_scan()) i
	           union all
	           select o.*
	             from (select j.id, j.claim_no, j.worker_id, j.lease_until
	                     from readpast.job j
	                    where (j.queue_id, j.run_at) > (q.id, (select clock_timestamp()))
	                      and (j.queue_id, j.run_at) < (q.id, 'infinity')
	                      and j.seq is null and j.run_at < 'infinity'
	                    order by j.queue_id, j.run_at
	                    limit readpast.held_scan()) o) h
	 where q.name = any (queues)
	   and h.lease_until is not null and h.worker_id = held_by.worker_id;
end
$body$;
