-- visit_lane: scan a lane for jobs that claims have passed and no longer find.
-- reclaim() handles these jobs. The scan begins at the low-water mark of the lane,
-- because a sweep has seen all jobs before this mark. It goes up to the newest cursor
-- (a number where claims start) whose visit is due. From there it continues while it
-- finds running jobs, up to the next cursor if there is one.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- head, low, made_at: the columns of the cursor that the sweep is going to visit.
-- ticked: the highest number to visit, or null if it is not known. Each transaction
-- that drew this number or a smaller one has ended or is in `open`.
-- open: the open transactions, see open_ranges().
-- til: the time at which to stop. The next sweep scans the jobs that are left.
-- Rows: the jobs whose lease ran out, with the columns of expire().
-- Locks: the newest cursor whose visit is due, the cursors that the routine deletes,
-- and the jobs that reclaim() and expire() change. If another sweep has locked the
-- newest cursor whose visit is due, nothing is done.

create function readpast.visit_lane(lane_id bigint, head bigint, low bigint,
                                    made_at timestamptz, ticked bigint,
                                    open readpast.open_range[],
                                    til timestamptz)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	its   record := readpast.cursors_of(lane_id, head, low, made_at);
	got   record;
	next  bigint := its.low;
	high  bigint := 1 + least(its.passed, coalesce(ticked, its.low - 1));
	held  boolean := true;
begin
	perform 1
	   from readpast.cursor c
	  where c.lane_id = visit_lane.lane_id and c.head = its.passed
	    for update skip locked;
	if not found then
		return;
	end if;
	while (next < high or held) and clock_timestamp() < til loop
		got := readpast.reclaim(lane_id, next,
		                        case when next < high then high
		                             else coalesce(its.next_head,
		                                           readpast.line_end()) end,
		                        readpast.newest_head(lane_id));
		held := next < high or got.held and next < got.next;
		next := got.next;
		if got.over <> '{}' then
			return query select * from readpast.expire(got.over);
		end if;
	end loop;
	if held and next >= high then
		-- This visit's time is used up, and there may be more running jobs. The
		-- next sweep continues at `next`.
		insert into readpast.recheck (lane_id, first, last)
		values (visit_lane.lane_id, next, readpast.line_end());
	end if;
	perform readpast.wait_for_draws(lane_id, its.low, least(next, high), open);
	next := least(next, high, its.passed + 1);
	-- If wait_for_claims() returns false, there may be an open transaction that
	-- claimed jobs from this cursor and added no cursor of its own. Then this
	-- cursor stays on the list of cursors to visit.
	if next > its.passed and its.next_head is null and not
	   readpast.wait_for_claims(lane_id, its.passed, its.made_at, open)
	then
		next := its.passed;
	end if;
	update readpast.cursor c
	   set low = next
	 where c.lane_id = visit_lane.lane_id and c.head = its.passed;
	delete from readpast.cursor c
	 where c.ctid = any (array(
	           select c.ctid
	             from readpast.cursor c
	            where c.lane_id = visit_lane.lane_id and c.head >= its.oldest
	              and c.head < its.passed
	              for update skip locked));
end
$body$;
