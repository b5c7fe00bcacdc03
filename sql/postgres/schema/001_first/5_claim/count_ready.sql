-- count_ready: count the ready jobs of a lane whose seq is at least `start`.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- start: the smallest seq (number of a job in the ready line) that is counted.
-- most: the count stops when it has reached this value.
-- Result: the count.
-- Locks: none.

create function readpast.count_ready(lane_id bigint, start bigint, most integer)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
begin
	return (select count(*)
	          from (select 1
	                  from readpast.job j
	                 where j.lane_id = count_ready.lane_id and j.seq >= start
	                   and j.lease_until is null
	                   and ((j.extra).expire_at is null
	                        or (j.extra).expire_at > clock_timestamp())
	                 order by j.lane_id, j.seq
	                 limit most) r);
end
$body$;
