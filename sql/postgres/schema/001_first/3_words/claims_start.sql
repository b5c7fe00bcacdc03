-- claims_start: return the `seq` at which claims start to search a lane for ready jobs.
-- (The `seq` of a job is its number in the ready line.) The lane's rows in the table
-- `cursor` determine the result. The comment of that table explains the rule.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Result: the `seq`.
--   If the lane has no cursor: 0.
--   If the lane's newest cursor (the one with the largest `head`) is at least
--     cursor_age() old: the `head` of this cursor.
--   If the newest cursor is younger: its `settled`, or the `head` of the newest cursor
--     that is at least cursor_age() old, whichever is larger.
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
