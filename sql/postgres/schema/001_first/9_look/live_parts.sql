-- live_parts: count the live jobs of a queue, except jobs that wait for their group.
-- The jobs are counted in these parts:
--   1. the jobs that are not in the ready line;
--   2. for each lane (a queue, a priority and a class, see lane_of()) the jobs before
--      the number where claims start, and separately the other jobs;
--   3. jobs that the next sweep will look at again, see recheck_part(). Part 2 does not
--      have these jobs, because it begins at the low-water mark of each lane. A sweep
--      has already seen all jobs before this mark.
-- queue_id: the queue.
-- most: the routine reads at most scan_most() jobs of each part, a tenth more than
-- `most`. The lanes are read one after another. If a part of a lane has so many jobs,
-- the queue has more than can be counted. So only scan_least() jobs of each later part
-- of a lane are read.
-- Rows: one for each part.
--   oldest: the smallest run_at of the ready jobs that were read.
--   ids, claim_nos, worker_ids: the running jobs that were read.
--   more_ready, more_scheduled, more_running: true if there are, or may be, more such
--     jobs than were read.
-- Locks: none.

create function readpast.live_parts(queue_id integer, most bigint)
returns table (ready bigint, scheduled bigint, oldest timestamptz,
               ids bigint[], claim_nos bigint[], worker_ids bigint[],
               more_ready boolean, more_scheduled boolean,
               more_running boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	select * from readpast.scheduled_part(live_parts.queue_id, most)
	union all
	select * from readpast.line_parts(live_parts.queue_id, most)
	union all
	select * from readpast.recheck_part(live_parts.queue_id, most);
end
$body$;
