-- ready_in: list the first ready jobs in a queue's ready line.
-- queue_id: the queue.
-- most: the largest number of jobs to list.
-- Rows: the ids of the jobs, in the order in which claims take them. Claims do not find
-- some jobs until the next sweep has moved them to the end of their lane. These jobs
-- come last.
-- Locks: none.

create function readpast.ready_in(queue_id integer, most bigint)
returns table (id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	lane record;
	n    bigint;
begin
	for lane in
		select l.lane_id, readpast.low_water(l.lane_id) as low
		  from unnest(readpast.lanes_of(ready_in.queue_id)) as l(lane_id)
	loop
		exit when most <= 0;
		return query
		select j.id
		  from readpast.job j
		 where j.lane_id = lane.lane_id and j.seq >= lane.low
		   and j.lease_until is null
		 order by j.lane_id, j.seq
		 limit most;
		get diagnostics n = row_count;
		most := most - n;
	end loop;
	return query
	select distinct f.id
	  from (select j.id
	          from readpast.live_ranges(ready_in.queue_id) r,
	               lateral (select j.id
	                          from readpast.job j
	                         where j.lane_id = r.lane_id
	                           and j.seq >= r.first and j.seq < r.past
	                           and j.lease_until is null
	                         order by j.lane_id, j.seq
	                         limit most) j
	         where r.is_recheck and most > 0) f
	 limit most;
end
$body$;
