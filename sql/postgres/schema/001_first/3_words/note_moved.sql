-- note_moved: ask the sweep to look again at jobs to which this transaction has given
-- new numbers of the ready line. If this transaction is older than young_age(), claims
-- may pass these numbers before it commits. If it is younger, the routine does nothing,
-- because sweeps take care of the numbers of young transactions, see open_ranges().
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
