-- probe_range: what probe() has to know about a part of the ready line. It reads the first
-- probe_most() jobs.
-- lane_id, first, past: the part, see live_ranges(); head: where the lane's claims start.
-- Result: held_until: when the next lease ends, or null; is_behind: there is a job that is
-- ready and before `head`.
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
