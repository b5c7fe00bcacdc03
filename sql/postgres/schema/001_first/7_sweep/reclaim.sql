-- reclaim: handle jobs that claims no longer find, because claims start at `head` or
-- will soon start there. The routine scans a range of a lane for such jobs, at most
-- visit_slice() jobs. What it does depends on the job:
--   A ready job whose number is not larger than `head` moves to the end of the lane,
--     where claims find it.
--   A running job is taken out of the ready line. From then on, sweeps find it by the
--     end of its lease.
--   A job whose lease ran out is returned in `over`.
--   A job that another transaction has locked gets a row in `recheck`, so that a later
--     sweep looks at the job again.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- low, high: the range of numbers, including `low` but not `high`.
-- head: the head of the newest cursor.
-- Result:
--   next: the first number that was not examined.
--   held: true if an examined job is running.
--   over: the ids of jobs whose lease ran out. The caller passes them to expire().
-- Locks: the jobs that the routine moves, and those in `over`, for update. Rows that
-- other transactions have locked are skipped.

create function readpast.reclaim(lane_id bigint, low bigint, high bigint,
                                 head bigint, out next bigint,
                                 out held boolean, out over bigint[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	seen   record;
	got    record;
	before bigint := (select s.last_value from readpast.line s);
	moment timestamptz := clock_timestamp();
begin
	select array_agg(s.id) filter (where s.seq <= head
	                                  or s.lease_until is not null) as ids,
	       bool_or(s.lease_until is not null) as held,
	       count(*) as jobs, max(s.seq) as last
	  into seen
	  from (select j.id, j.seq, j.lease_until
	          from readpast.job j
	         where j.lane_id = reclaim.lane_id and j.seq >= low and j.seq < high
	         order by j.lane_id, j.seq
	         limit readpast.visit_slice()) s;
	next := case when seen.jobs < readpast.visit_slice() then high
	             else seen.last + 1 end;
	held := coalesce(seen.held, false);
	over := '{}';
	if seen.ids is null then
		return;
	end if;
	select coalesce(array_agg(l.id), '{}') as ids,
	       array_agg(l.id) filter (where l.lease_until is null
	                                 and l.seq <= head) as ready,
	       array_agg(l.id) filter (where l.lease_until > moment) as running,
	       array_agg(l.id) filter (where l.lease_until <= moment) as over
	  into got
	  from (select j.id, j.seq, j.lease_until
	          from readpast.job j
	         where j.id = any (seen.ids) and j.lane_id = reclaim.lane_id
	           and j.seq >= low and j.seq < next
	         order by j.id
	           for update skip locked) l;
	if got.ready is not null then
		perform readpast.to_the_end(got.ready, before);
	end if;
	if got.running is not null then
		update readpast.job j
		   set seq = null, run_at = j.lease_until
		 where j.id = any (got.running);
	end if;
	over := coalesce(got.over, over);
	insert into readpast.recheck (lane_id, first, last)
	select j.lane_id, j.seq, j.seq
	  from readpast.job j
	 where j.id = any (seen.ids) and j.id <> all (got.ids)
	   and j.lane_id = reclaim.lane_id and j.seq >= low and j.seq < next
	   and not exists (select 1
	                     from readpast.recheck r
	                    where r.lane_id = reclaim.lane_id and r.first = j.seq
	                      and r.last = j.seq and r.waits_for is null);
end
$body$;
