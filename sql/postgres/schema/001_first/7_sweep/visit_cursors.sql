-- visit_cursors: visit the cursors that claims have appended, the oldest first. A
-- cursor is a number in a lane's ready line where claims start, and a visit looks for
-- jobs before this number. The cost grows with the number of new cursors, not with the
-- number of queues.
-- The cursors to visit are listed in the order of their visit_at. The list begins at a
-- recorded time, because earlier sweeps have visited all cursors with an earlier
-- visit_at. While an old transaction stays open, the recorded time does not move, and
-- deleted entries stay in the index. So reading the whole list gets slow. Therefore, in
-- each period of the length full_list_every(), only one sweep reads the whole list. The
-- other sweeps read the entries of the last minute.
-- til: the time at which to stop. The cursors that are left stay on the list.
-- Rows: the jobs whose lease ran out, with the columns of expire().
-- Locks: the cursors that the routine visits or deletes, and the jobs that reclaim()
-- and expire() change. Rows that other transactions have locked are skipped.

create function readpast.visit_cursors(til timestamptz)
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
	own    record;
	since  timestamptz;
	it     record;
	n      integer := 0;
	now    pg_snapshot := pg_current_snapshot();
	open   readpast.open_range[];
	ticked bigint := (select t.seq
	                    from readpast.tick t
	                   where t.next_xid <= pg_snapshot_xmax(now)
	                   order by t.next_xid desc
	                   limit 1);
begin
	select c.head, c.made_at into own
	  from readpast.cursor c
	 where c.lane_id = -1
	 order by c.lane_id desc, c.head desc
	 limit 1;
	since := greatest(readpast.at_us(own.head),
	                  case when own.made_at > moment - readpast.full_list_every()
	                       then moment - readpast.full_list_every() end);
	for it in
		select c.lane_id, c.head, c.low, c.made_at
		  from readpast.cursor c
		 where c.low <= c.head and c.visit_at >= since
		   and c.visit_at <= moment
		 order by c.visit_at
	loop
		exit when clock_timestamp() > til;
		n := n + 1;
		open := coalesce(open, readpast.open_ranges(now));
		perform 1
		   from readpast.cursor c
		  where c.lane_id = it.lane_id and c.head = it.head and c.low = it.low;
		continue when not found;
		return query
		select * from readpast.visit_lane(it.lane_id, it.head, it.low, it.made_at,
		                                  ticked, open, til);
	end loop;
	if n > 0 then
		perform readpast.move_work_list(own.head);
	end if;
end
$body$;
