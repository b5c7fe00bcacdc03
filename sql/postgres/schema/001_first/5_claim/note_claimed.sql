-- note_claimed: request that the next sweep looks at these jobs of a lane again. The
-- routine adds a row to the table `recheck`.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- places: the jobs' rows (ctid).
-- Locks: none.

create function readpast.note_claimed(lane_id bigint, places tid[]) returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $body$
insert into readpast.recheck (lane_id, first, last)
select note_claimed.lane_id, min(j.seq), max(j.seq)
  from readpast.job j
 where j.ctid = any (places)
$body$;
