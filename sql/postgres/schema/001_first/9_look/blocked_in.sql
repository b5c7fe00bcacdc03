-- blocked_in: list jobs of a queue that wait for their group (for a slot, or for the
-- end of a hold). A slot is the right of one job to run.
-- queue_id: the queue.
-- most: the largest number of jobs to list.
-- Rows: the ids of the jobs, group by group, in the order in which they are admitted.
-- Locks: none.

create function readpast.blocked_in(queue_id integer, most bigint)
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
begin
	return query
	select w.job_id
	  from readpast.group_wait w
	 where w.queue_id = blocked_in.queue_id
	 order by w.queue_id, w.group_key, w.priority, w.came
	 limit most;
end
$body$;
