-- next_in_line: draw the next number of the ready line, for a job that goes to the end
-- of a lane. If this transaction is older than young_age(), the routine also adds a row
-- to `recheck`, so that the sweep looks at this number again, see note_late().
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- Precondition: this transaction has its id already, see take_xid().
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
