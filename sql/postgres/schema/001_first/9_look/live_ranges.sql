-- live_ranges: list the ranges of a queue's ready line in which jobs may be. Each lane
-- has a range past its low-water mark, before which a sweep has seen everything. Before
-- that mark it may have ranges that the next sweep looks at again. Routines that count
-- or find a queue's jobs read these ranges, and the jobs that are not in the line.
-- queue_id: the queue.
-- Rows: one for each range.
--   first, past: the range goes from `first` to before `past`.
--   is_recheck: true for a range before the low-water mark. Such ranges may overlap.
-- Locks: none.

create function readpast.live_ranges(queue_id integer)
returns table (lane_id bigint, first bigint, past bigint, is_recheck boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_variable
declare
	open pg_snapshot := pg_current_snapshot();
	low  bigint;
begin
	for lane_id in
		select distinct unnest(readpast.lanes_of(queue_id))
	loop
		low := readpast.low_water(lane_id);
		-- Read only ranges whose transaction is over, as recheck_places()
		-- does. No job of another transaction is visible.
		return query
		select r.lane_id, r.first, least(r.last + 1, low), true
		  from readpast.recheck r
		 where r.lane_id = live_ranges.lane_id and r.first < low
		   and (r.waits_for is null
		        or pg_visible_in_snapshot(r.waits_for, open)
		        or r.waits_for >= pg_snapshot_xmax(open));
		return query select lane_id, low, readpast.line_end(), false;
	end loop;
end
$body$;
