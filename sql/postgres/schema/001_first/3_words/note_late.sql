-- note_late: request that the sweep looks again at the end of a lane (a recheck). A
-- transaction that is older than young_age() has to do this when it draws numbers of
-- the ready line, because claims may pass these numbers before it commits. The row in
-- `recheck` becomes visible together with the jobs. Its range ends at the last number
-- that any session has drawn.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- first: the smallest number that this transaction drew late.
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
