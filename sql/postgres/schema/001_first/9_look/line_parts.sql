-- line_parts: count the jobs in a queue's ready line. For each lane (a queue, a
-- priority and a class, see lane_of()), claims_start() returns the number where claims
-- start. The jobs before this number are one part, and the other jobs of the lane are
-- another part. In the second part the running jobs come before the ready jobs, because
-- claims take the first ready job.
-- queue_id: the queue.
-- most: the routine reads at most scan_most() jobs of each part, a tenth more than
-- `most`. After a part that has more jobs, it reads only scan_least() jobs of each
-- later part, see live_parts().
-- Rows: at most two for each lane, with the columns of live_parts().
-- Locks: none.

create function readpast.line_parts(queue_id integer, most bigint)
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
	part    record;
	at_most bigint := readpast.scan_most(most);
begin
	scheduled := 0;
	more_scheduled := false;
	for part in
		select l.lane_id, p.first, p.past, p.is_last
		  from unnest(readpast.lanes_of(line_parts.queue_id)) as l(lane_id),
		       lateral (select readpast.low_water(l.lane_id) as low,
		                       readpast.claims_start(l.lane_id) as head
		                offset 0) s,
		       lateral (values (s.low, s.head, false),
		                       (greatest(s.low, s.head), readpast.line_end(),
		                        true)) as p(first, past, is_last)
		 where p.first < p.past
	loop
		select count(*) filter (where l.lease_until is null),
		       min(l.run_at) filter (where l.lease_until is null),
		       array_agg(l.id) filter (where l.lease_until is not null),
		       array_agg(l.claim_no) filter (where l.lease_until is not null),
		       array_agg(l.worker_id) filter (where l.lease_until is not null),
		       count(*) = at_most,
		       count(*) = at_most
		       and (not part.is_last
		            or max(l.seq) filter (where l.lease_until is not null)
		               = max(l.seq)) is true
		  into ready, oldest, ids, claim_nos, worker_ids, more_ready,
		       more_running
		  from (select j.id, j.seq, j.run_at, j.lease_until, j.claim_no,
		               j.worker_id
		          from readpast.job j
		         where j.lane_id = part.lane_id
		           and j.seq >= part.first and j.seq < part.past
		         order by j.lane_id, j.seq
		         limit at_most) l;
		at_most := case when more_ready
		                then least(at_most, readpast.scan_least())
		                else at_most end;
		return next;
	end loop;
end
$body$;
