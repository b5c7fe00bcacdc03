-- sweep_expired: end leases that ran out, in all queues, in three steps.
--   1. Scan the ranges that the table `recheck` lists.
--   2. Scan the jobs before each cursor whose visit_at has come. A cursor is a number
--      where claims start, so claims do not find the jobs before it.
--   3. Search the running jobs that have left the ready line (their seq is null).
-- Steps 1 and 2 each stop after the time visit_budget(). The next sweep does the rest.
-- most: step 3 ends at most this number of leases.
-- Rows: the jobs whose lease ran out, with the columns of expire().
-- Locks: the jobs' rows, for update, and the rows of `recheck` and `cursor` that the
-- routine changes. Rows that other transactions have locked are skipped.

create function readpast.sweep_expired(most integer)
returns table (id bigint, dead boolean)
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
	since  timestamptz := readpast.due_since();
	ids    bigint[];
begin
	perform readpast.need_read_committed('a sweep');
	perform readpast.start_over();
	return query
	select * from readpast.recheck_places(moment + readpast.visit_budget());
	return query
	select * from readpast.visit_cursors(clock_timestamp()
	                                     + readpast.visit_budget());
	ids := array(
		select j.id
		  from readpast.job j
		 where j.seq is null and j.run_at >= since and j.run_at <= moment
		   and j.run_at < 'infinity'
		   and j.lease_until <= moment
		 order by j.run_at
		 limit most
		   for update skip locked);
	if ids <> '{}' then
		return query select * from readpast.expire(ids);
	end if;
end
$body$;
