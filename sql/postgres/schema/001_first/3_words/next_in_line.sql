-- next_in_line: draw a number of the ready line for a job at the end of a lane. A
-- transaction that is no longer young also requests a recheck of that number, see
-- note_late().
--
-- lane_id: the lane.
-- Precondition: this transaction has its id, see take_xid().
-- Result: the number.
-- Locks: none.

create function readpast.next_in_line(lane_id bigint) returns bigint
language plpgsql volatile as $body$
declare
	seq bigint := pg_catalog.nextval('readpast.line');
begin
	if not readpast.young() then
		perform readpast.note_late(lane_id, seq);
	end if;
	return seq;
end
$body$;
