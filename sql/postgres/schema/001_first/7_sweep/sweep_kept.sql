-- sweep_kept: delete finished jobs that have been kept long enough. A dead or cancelled
-- job with a keep_ms is kept for this time or for keep_dead_ms of its queue, whichever
-- is longer. First the routine adds up the rows of kept_count, which count the kept
-- jobs of each queue and state, and deletes old rows of other tables, see forget_old().
-- Then it deletes jobs, but skips each queue and state whose count is 0. Done jobs with
-- a keep_ms have an index of their own, so they are found without the counts. Workers
-- call this routine only once a minute. A run costs more while an old transaction is
-- open, because it then has to read the rows that earlier runs have deleted.
-- most: delete at most this number of jobs of each queue and state, and of the done
-- jobs with a keep_ms.
-- Rows: the ids of the jobs.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped.

create function readpast.sweep_kept(most integer)
returns table (id bigint)
language plpgsql volatile
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
begin
	perform readpast.sum_kept();
	perform readpast.forget_old();
	return query
	delete from readpast.archive a
	 where a.id = any (array(
	           select o.id
	             from (select k.queue_id, k.state
	                     from readpast.kept_count k
	                    group by 1, 2
	                   having sum(k.change) > 0) s
	             join readpast.queue q on q.id = s.queue_id,
	                  lateral (select a.id
	                             from readpast.archive a
	                            where a.queue_id = s.queue_id
	                              and a.state = s.state
	                              and a.finished_at
	                                  <= moment - readpast.ms(
	                                         case when s.state = 4
	                                              then q.keep_done_ms
	                                              else q.keep_dead_ms end)
	                              and ((a.extra).keep_ms is null
	                                   or s.state > 4
	                                   and readpast.term_ends(a.finished_at,
	                                                          (a.extra).keep_ms)
	                                       <= moment)
	                            order by a.finished_at
	                            limit most
	                              for update skip locked) o)
	           || array(
	           select a.id
	             from readpast.archive a
	            where a.state = 4 and (a.extra).keep_ms is not null
	              and readpast.term_ends(a.finished_at, (a.extra).keep_ms) <= moment
	            order by readpast.term_ends(a.finished_at, (a.extra).keep_ms)
	            limit most
	              for update skip locked))
	returning a.id;
end
$body$;
