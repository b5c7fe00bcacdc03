-- live_parts: the live jobs of a queue, in parts: those that are not in the ready line;
-- of each lane, those before the place where claims start, and those past it; and those
-- that the sweep looks at again.
-- queue_id: the queue; most: stop counting there. Of each part scan_most(most) jobs are
-- read; of the lanes after one that has more, scan_least().
-- Rows: one for each part. oldest: run_at of the oldest ready job. ids, claim_nos,
-- worker_ids: of the held jobs, which no index tells from others. more_...: there are
-- more jobs than were read, or may be.
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
