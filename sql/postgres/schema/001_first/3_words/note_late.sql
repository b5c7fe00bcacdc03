-- note_late: Numbers were drawn late, from this one on: the sweep sees it when
-- it sees the jobs.

create function readpast.note_late(lane_id bigint, first bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.stray (lane_id, first, last)
	select note_late.lane_id, note_late.first, s.last_value
	  from readpast.line s;
end
$body$;
