-- claims_start: return the number of the ready line from which the claims of a lane
-- start. The number is read from the lane's cursors, see the table `cursor`.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Result: the head of the newest cursor, if that cursor is at least cursor_age() old.
-- Otherwise the larger of two numbers: the `settled` of the newest cursor, and the
-- head of the newest cursor that is at least cursor_age() old. 0 if the lane has no
-- cursor.
-- Locks: none.

create function readpast.claims_start(lane_id bigint) returns bigint
language plpgsql stable as $body$
declare
	old constant pg_catalog.timestamptz := pg_catalog.clock_timestamp()
	                            operator(pg_catalog.-) readpast.cursor_age();
begin
	return coalesce((
		select case when c.made_at operator(pg_catalog.<=) old then c.head
		            else greatest(c.settled, (
		                     select o.head
		                       from readpast.cursor o
		                      where o.lane_id
		                            operator(pg_catalog.=) claims_start.lane_id
		                        and o.made_at operator(pg_catalog.<=) old
		                      order by o.lane_id desc, o.head desc
		                      limit 1)) end
		  from readpast.cursor c
		 where c.lane_id operator(pg_catalog.=) claims_start.lane_id
		 order by c.lane_id desc, c.head desc
		 limit 1), 0);
end
$body$;
