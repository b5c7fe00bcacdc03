-- low_water: return a lane's low-water mark. Sweeps have seen all jobs of the lane
-- whose numbers in the ready line are smaller than this mark. The routine reads the
-- lane's cursors, newest first, up to the first cursor that a sweep has visited (low >
-- head). It must not read older cursors, because very many of them may be deleted rows
-- that vacuum could not remove yet.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Result: the mark, or 0 if the lane has no cursor.
-- Locks: none.

create function readpast.low_water(lane_id bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
declare
	it  record;
	low bigint;
begin
	for it in
		select c.head, c.low
		  from readpast.cursor c
		 where c.lane_id = low_water.lane_id
		 order by c.lane_id desc, c.head desc
	loop
		low := least(low, it.low);
		exit when it.low > it.head;
	end loop;
	return coalesce(low, 0);
end
$body$;
