-- note_moved: after this transaction has given new numbers of the ready line to jobs,
-- add rows to `recheck`, so that a sweep looks at these numbers again. When this
-- transaction commits, claims may already start after the numbers, and then claims do
-- not find the jobs. If this transaction is younger than young_age(), the routine does
-- nothing: sweeps look again at the numbers of young transactions without such a row,
-- see open_ranges().
-- ids: the jobs.
-- before: a number that is smaller than all the new numbers of these jobs.
-- Locks: none.

create function readpast.note_moved(ids bigint[], before bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if not readpast.young() then
		perform readpast.note_late(l.lane_id, before)
		   from (select distinct j.lane_id
		           from readpast.job j
		          where j.id = any (ids)) l;
	end if;
end
$body$;
