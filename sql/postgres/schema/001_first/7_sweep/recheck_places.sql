-- recheck_places: scan the ranges of `seq` numbers that the table `recheck` lists. Jobs
-- may have appeared in such a range after claims moved past it, and claims do not look
-- back. If `waits_for` names a transaction that is still open, a later sweep scans the
-- range.
-- til: the time at which to stop. The next sweep looks at the remaining ranges.
-- Rows: the jobs whose lease ran out, with the columns of expire().
-- Locks: the rows of `recheck` that the routine deletes, and the jobs that reclaim()
-- and expire() change. Rows that other transactions have locked are skipped.

create function readpast.recheck_places(til timestamptz)
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
	it   record;
	got  record;
	open pg_snapshot := pg_current_snapshot();
begin
	for it in
		select r.*
		  from readpast.recheck r
		 where readpast.is_over(r.waits_for, open)
		 order by r.id
	loop
		exit when clock_timestamp() > til;
		delete from readpast.recheck r
		 where r.id = (select r.id from readpast.recheck r where r.id = it.id
		                  for update skip locked);
		continue when not found;
		loop
			got := readpast.reclaim(it.lane_id, it.first, it.last + 1,
			                        readpast.newest_head(it.lane_id));
			it.first := got.next;
			if got.over <> '{}' then
				return query select * from readpast.expire(got.over);
			end if;
			-- A range without an end is scanned until a call of reclaim()
			-- finds no running job.
			exit when it.first > it.last
			          or it.last = readpast.line_end() and not got.held;
			if clock_timestamp() > til then
				insert into readpast.recheck (lane_id, first, last)
				values (it.lane_id, it.first, it.last);
				exit;
			end if;
		end loop;
	end loop;
end
$body$;
