-- cursors_of: the facts about a lane's cursors that a visit needs, read from the newest
-- cursor down to the last visited one.
-- lane_id: the lane; head, low, made_at: those of the cursor on the work list.
-- Result: passed: the head of the newest cursor whose visit is due or was made; null if
-- there is none. made_at: when that cursor was made, or a cursor with a smaller head if
-- that was later. (Cursors commit in any order, so a smaller head may be younger.) next_head: the next larger head; null if there is none. low: the low-water
-- mark. oldest: the smallest head.
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
	-- The time must not be later than the sweep's snapshot of the open
	-- transactions, on which wait_for_claims() relies. So this is not
	-- clock_timestamp().
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
