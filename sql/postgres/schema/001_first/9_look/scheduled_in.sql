-- scheduled_in: list jobs of a queue, the earliest run_at first. The list has only jobs
-- that are not in the ready line, do not run, and do not wait for their group.
-- queue_id: the queue.
-- due: true to list only jobs whose run_at has come, false to list only the other jobs.
-- most: the largest number of jobs to list.
-- Rows: the ids of the jobs, ordered by run_at.
-- Locks: none.

create function readpast.scheduled_in(queue_id integer, due boolean, most bigint)
returns table (id bigint)
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
	moment timestamptz := clock_timestamp();
	since  timestamptz := readpast.due_since();
	after  timestamptz := case when due then '-infinity' else moment end;
	until  timestamptz := case when due then moment else 'infinity' end;
begin
	return query
	select j.id
	  from readpast.job j
	 where (j.queue_id, j.run_at) >= (scheduled_in.queue_id, greatest(since, after))
	   and (j.queue_id, j.run_at) <= (scheduled_in.queue_id, until)
	   and j.seq is null and j.run_at > after and j.run_at < 'infinity'
	   and j.lease_until is null
	 order by j.queue_id, j.run_at
	 limit most;
end
$body$;
