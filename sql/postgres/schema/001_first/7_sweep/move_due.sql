-- move_due: move the sweep's own cursor for scheduled jobs (lane 0 of the table
-- `cursor`). The cursor records a time such that no scheduled job has an earlier
-- run_at, because sweeps have made all jobs ready that were due before this time. Later
-- sweeps start their search at the recorded time. The new time is settled_time(). If
-- there is a scheduled job with a run_at before the new time, the cursor is not moved.
-- since: the time that is recorded now, the result of due_since().
-- Locks: the cursors of lane 0 that the routine deletes. If another transaction has
-- locked the newest of these cursors, nothing changes.

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
		 where j.seq is null and j.run_at >= since and j.run_at < til
		   and j.run_at < 'infinity')
	then
		perform readpast.move_own_cursor(
		            0, coalesce(readpast.epoch_us(nullif(since, '-infinity')), 0),
		            readpast.epoch_us(til));
	end if;
end
$body$;
