-- recheck_part: count the jobs of a queue that are in the ranges of the table
-- `recheck`. The next sweep will look at these ranges. The jobs are in the ready line,
-- but before the low-water mark of their lane (a sweep has seen all jobs before this
-- mark). line_parts() counts only the other jobs of the line, so live_parts() counts no
-- job twice.
-- queue_id: the queue.
-- most: the routine reads at most scan_most() jobs, a tenth more than `most`.
-- Rows: one, with the columns of live_parts().
-- Locks: none.

create function readpast.recheck_part(queue_id integer, most bigint)
returns table (ready bigint, scheduled bigint, oldest timestamptz,
               ids bigint[], claim_nos bigint[], worker_ids bigint[],
               more_ready boolean, more_scheduled boolean,
               more_running boolean)
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
	at_most bigint := readpast.scan_most(most);
begin
	select count(*) filter (where l.lease_until is null), 0,
	       min(l.run_at) filter (where l.lease_until is null),
	       array_agg(l.id) filter (where l.lease_until is not null),
	       array_agg(l.claim_no) filter (where l.lease_until is not null),
	       array_agg(l.worker_id) filter (where l.lease_until is not null),
	       count(*) = at_most, false, count(*) = at_most
	  into ready, scheduled, oldest, ids, claim_nos, worker_ids, more_ready,
	       more_scheduled, more_running
	  from (select distinct on (f.id) f.*
	          from (select j.*
	                  from readpast.live_ranges(recheck_part.queue_id) r,
	                       lateral (select j.id, j.run_at, j.lease_until,
	                                       j.claim_no, j.worker_id
	                                  from readpast.job j
	                                 where j.lane_id = r.lane_id
	                                   and j.seq >= r.first and j.seq < r.past
	                                 order by j.lane_id, j.seq
	                                 limit at_most) j
	                 where r.is_recheck
	                 limit at_most) f
	         order by f.id) l;
	return next;
end
$body$;
