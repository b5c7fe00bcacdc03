-- newest_head: return the `head` of a lane's newest cursor, whatever the cursor's age.
-- (A cursor is a place in the ready line where claims start.) Claims start at this
-- number now, or will start there within cursor_age(). Then they do not find ready jobs
-- with smaller numbers, so the sweep has to move these jobs.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Result: a number of the ready line, or 0 if the lane has no cursor.
-- Locks: none.

create function readpast.newest_head(lane_id bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
begin
	return coalesce((select c.head
	                   from readpast.cursor c
	                  where c.lane_id = newest_head.lane_id
	                  order by c.lane_id desc, c.head desc
	                  limit 1), 0);
end
$body$;
