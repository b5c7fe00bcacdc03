-- next_in_line: A number at the end of a lane, for a transaction that has its
-- own already.

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
