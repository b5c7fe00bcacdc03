-- note_moved: request that the sweep looks again at jobs to which this transaction gave
-- new numbers of the ready line. If this transaction is old, claims may pass these
-- numbers before the commit. If this transaction is younger than young_age(), the
-- routine does nothing.
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
