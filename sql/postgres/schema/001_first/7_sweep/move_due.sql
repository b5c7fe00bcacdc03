-- move_due: move lane 0, the sweep's own cursor for scheduled jobs: all jobs due up to
-- settled_time() have been moved, so later sweeps start there. Nothing is written while
-- a job before that time is left.
-- since: where the cursor is now, see due_since().
-- Locks: those of move_own_cursor().

create function readpast.move_due(since timestamptz) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
	til timestamptz := readpast.settled_time();
begin
	if til > since and not exists (
		select 1 from readpast.job j
		 where j.seq is null and j.run_at >= since and j.run_at < til)
	then
		perform readpast.move_own_cursor(
		            0, coalesce(readpast.epoch_us(nullif(since, '-infinity')), 0),
		            readpast.epoch_us(til));
	end if;
end
$body$;
