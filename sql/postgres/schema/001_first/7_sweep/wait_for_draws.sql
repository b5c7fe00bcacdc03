-- wait_for_draws: request rechecks for a range of a lane. An open transaction may have
-- drawn numbers in this range for jobs that nobody can see yet. So for each such
-- transaction the routine adds a row to `recheck`. After the transaction has ended, a
-- sweep then looks at these numbers again.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- low, high: the range of numbers, including `low` but not `high`.
-- open: the open transactions, see open_ranges().
-- Locks: none.

create function readpast.wait_for_draws(lane_id bigint, low bigint, high bigint,
                                        open readpast.open_range[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.recheck (lane_id, first, last, waits_for)
	select wait_for_draws.lane_id, greatest(low, o.first), least(high - 1, o.last),
	       o.xid
	  from unnest(open) as o
	 where o.first < high and o.last >= low;
end
$body$;
