-- probe_range: read what probe() needs from one range of the ready line. The routine
-- reads only the first probe_most() jobs of the range.
-- lane_id, first, past: the lane and the range, see live_ranges().
-- head: the number at which the lane's claims start.
-- Result:
--   held_until: the time at which the next lease in the range ends. Null if no job in
--     the range is running.
--   is_behind: true if a ready job is before `head`, so that claims do not find it.
-- Locks: none.

create function readpast.probe_range(lane_id bigint, first bigint, past bigint,
                                     head bigint, out held_until timestamptz,
                                     out is_behind boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
begin
	select min(e.lease_until),
	       coalesce(bool_or(e.lease_until is null and e.seq < head), false)
	  into held_until, is_behind
	  from (select j.lease_until, j.seq
	          from readpast.job j
	         where j.lane_id = probe_range.lane_id
	           and j.seq >= first and j.seq < past
	         order by j.lane_id, j.seq
	         limit readpast.probe_most()) e;
end
$body$;
