-- live_ranges: list the ranges of the ready line in which a queue may have jobs. Each
-- lane (a queue, a priority and a class, see lane_of()) has one range from its
-- low-water mark to the end of the line. Sweeps have seen all jobs before this mark,
-- and look again only at the ranges in the table `recheck`. These ranges are listed,
-- too. A routine that counts or finds a queue's jobs reads all these ranges, and the
-- jobs that are not in the ready line.
-- queue_id: the queue.
-- Rows: one for each range.
--   first, past: the range has the numbers from `first` up to, but not including,
--     `past`.
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
		select unnest(readpast.lanes_of(queue_id))
	loop
		low := readpast.low_water(lane_id);
		-- A range that waits for an open transaction is left out, because the
		-- jobs of that transaction are not visible yet.
		return query
		select r.lane_id, r.first, least(r.last + 1, low), true
		  from readpast.recheck r
		 where r.lane_id = live_ranges.lane_id and r.first < low
		   and readpast.is_over(r.waits_for, open);
		return query select lane_id, low, readpast.line_end(), false;
	end loop;
end
$body$;
