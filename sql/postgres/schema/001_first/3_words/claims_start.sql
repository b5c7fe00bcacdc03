-- claims_start: return the `seq` (the number in the ready line) at which the claims of
-- a lane start. The lane's cursors determine this number. The comment of the table
-- `cursor` explains the rule.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Result: one of three numbers. If the lane has no cursor: 0. If the newest cursor is
-- at least cursor_age() old: its `head`. Otherwise: the larger one of the newest
-- cursor's `settled` and the `head` of the newest cursor that is at least cursor_age()
-- old.
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
