-- kept_in: list kept jobs of a queue in one state, newest first.
-- queue_id: the queue.
-- state: 4 done, 5 dead, 6 cancelled.
-- most: the largest number of jobs to list.
-- Rows: the ids of the jobs.
-- Locks: none.

create function readpast.kept_in(queue_id integer, state bigint, most bigint)
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
	select a.id
	  from readpast.archive a
	 where a.queue_id = kept_in.queue_id and a.state = kept_in.state
	 order by a.finished_at desc, a.id desc
	 limit most;
end
$body$;
