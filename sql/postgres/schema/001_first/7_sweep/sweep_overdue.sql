-- sweep_overdue: cancel jobs that have expired, in all queues. A job expires if it was
-- not claimed by its expire_at. A job that is running is not cancelled. The unique keys
-- of the cancelled jobs become free.
-- most: cancel at most this number of jobs.
-- Rows: the ids of the jobs.
-- Locks: the jobs' rows, for update, and for each of them the rows that leave_group()
-- locks. Jobs that other transactions have locked are skipped.

create function readpast.sweep_overdue(most integer)
returns table (id bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	moment timestamptz := clock_timestamp();
begin
	perform readpast.need_read_committed('a sweep');
	for id in
		select j.id
		  from readpast.expiry e
		  join readpast.job j on j.id between e.first_id and e.last_id
		 where e.expire_at <= moment and (j.extra).expire_at <= moment
		   and j.lease_until is null
		 order by e.expire_at
		 limit most
		   for update of j skip locked
	loop
		-- Ranges of ids in `expiry` may overlap, so this loop may already have
		-- cancelled the job.
		continue when not exists (select 1 from readpast.job j
		                           where j.id = sweep_overdue.id);
		perform readpast.put_away(id, 6, 'expired');
		perform readpast.notify_job_waiters(array[id]);
		return next;
	end loop;
end
$body$;
