-- live_parts: count the live jobs of a queue, in parts. One part has the jobs that are
-- not in the ready line. Each lane has two parts, the jobs before the number where
-- claims start, and those past it. The last part has the jobs that the sweep will look
-- at again.
-- queue_id: the queue.
-- most: the count of a part stops a little past this number. scan_most() jobs of each
-- part are read. After a lane that has more jobs, only scan_least() jobs of each later
-- lane are read.
-- Rows: one for each part.
--   oldest: run_at of the oldest ready job.
--   ids, claim_nos, worker_ids: the running jobs. No index tells them from others, so
--     the routine lists them.
--   more_ready, more_scheduled, more_running: there are, or may be, more such jobs than
--     were read.
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
