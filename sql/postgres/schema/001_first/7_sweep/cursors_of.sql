-- cursors_of: collect what a sweep has to know about the cursors of a lane (the places
-- where claims start) before it visits the lane. The routine reads the cursors from the
-- newest one down, until it finds a cursor that a sweep has visited.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- head, low, made_at: the columns of the cursor that the sweep is going to visit.
-- Result:
--   low: the low-water mark of the lane. Sweeps have seen all jobs whose numbers are
--     smaller than this mark.
--   made_at: the latest made_at of the cursors that were read and whose head is not
--     larger than `passed`. (A cursor with a smaller head may have been made later than
--     one with a larger head.)
--   passed: the head of the newest cursor that a sweep has visited or must visit now.
--     Null if the lane has no such cursor.
--   next_head: the smallest head that is larger than `passed`. Null if no cursor has a
--     larger head.
--   oldest: the smallest head of the cursors that were read.
-- Locks: none.

create function readpast.cursors_of(lane_id bigint, head bigint,
                                    inout low bigint,
                                    inout made_at timestamptz,
                                    out passed bigint, out next_head bigint,
                                    out oldest bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $body$
#variable_conflict use_column
declare
	it     record;
	-- The sweep has listed the open transactions from its snapshot.
	-- wait_for_claims() needs a `moment` that is not later than this snapshot, so
	-- clock_timestamp() would be wrong here.
	moment timestamptz := statement_timestamp();
begin
	oldest := head;
	for it in
		select c.head, c.low, c.made_at, c.visit_at
		  from readpast.cursor c
		 where c.lane_id = cursors_of.lane_id
		 order by c.lane_id desc, c.head desc
	loop
		low := least(low, it.low);
		oldest := least(oldest, it.head);
		if passed is null and (it.visit_at <= moment or it.low > it.head) then
			passed := it.head;
		elsif passed is null then
			next_head := it.head;
		end if;
		if passed is not null then
			made_at := greatest(made_at, it.made_at);
		end if;
		exit when it.low > it.head;
	end loop;
end
$body$;
