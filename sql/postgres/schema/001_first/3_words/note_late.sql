-- note_late: add a row to the table `recheck`, so that the sweep looks again at the end
-- of a lane. A transaction calls this routine when it draws numbers of the ready line
-- and is older than young_age(). Before such a transaction commits, claims may have
-- passed the numbers that it drew. The row becomes visible together with the
-- transaction's jobs. The range in the row ends at the last number that any session has
-- drawn.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- first: the first number of the range. It may be smaller than the numbers that this
-- transaction drew, but not larger.
-- Locks: none.

create function readpast.note_late(lane_id bigint, first bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.recheck (lane_id, first, last)
	select note_late.lane_id, note_late.first, s.last_value
	  from readpast.line s;
end
$body$;
