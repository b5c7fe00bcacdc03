-- scheduled_part: count the jobs of a queue that are not in the ready line, except jobs
-- that wait for their group. These are scheduled jobs, jobs that are due but that no
-- sweep has moved yet, and jobs that have been running for more than a few seconds.
-- queue_id: the queue.
-- most: the routine reads at most scan_most() jobs, a tenth more than `most`.
-- Rows: one, with the columns of live_parts().
-- Locks: none.

create function readpast.scheduled_part(queue_id integer, most bigint)
returns table (ready bigint, scheduled bigint, oldest timestamptz,
               ids bigint[], claim_nos bigint[], worker_ids bigint[],
               more_ready boolean, more_scheduled boolean,
               more_running boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	moment  timestamptz := clock_timestamp();
	since   timestamptz := readpast.due_since();
	at_most bigint := readpast.scan_most(most);
begin
	select count(*) filter (where l.lease_until is null and l.run_at <= moment),
	       count(*) filter (where l.lease_until is null and l.run_at > moment),
	       array_agg(l.id) filter (where l.lease_until is not null),
	       array_agg(l.claim_no) filter (where l.lease_until is not null),
	       array_agg(l.worker_id) filter (where l.lease_until is not null),
	       count(*) = at_most
	  into ready, scheduled, ids, claim_nos, worker_ids, more_running
	  from (select j.id, j.run_at, j.lease_until, j.claim_no, j.worker_id
	          from readpast.job j
	         where (j.queue_id, j.run_at) >= (scheduled_part.queue_id, since)
	           and (j.queue_id, j.run_at) < (scheduled_part.queue_id, 'infinity')
	           and j.seq is null and j.run_at < 'infinity'
	         order by j.queue_id, j.run_at
	         limit at_most) l;
	more_ready := more_running and scheduled = 0;
	more_scheduled := more_running;
	return next;
end
$body$;
