-- move_cursor: append a cursor at the first of these jobs, which a claim has just locked:
-- later claims start there. A sweep will visit the place once, for jobs that this claim
-- may leave behind: when the lease may have run out, or when most such jobs are done.
--
-- Nothing is written if another claim has just appended a cursor with a head that is not
-- larger, whose visit is still to be made and not later: that visit finds these jobs,
-- too. A transaction that may stay open adds a row to `recheck`, which becomes visible
-- together with its claim. If it is no longer young it appends no cursor, because others
-- would see the cursor too late.
--
-- lane_id: the lane; places: the jobs' rows (ctid), in the order of the line; start:
-- where this claim started; lease: its length; alone: this transaction may stay open.
-- `settled`, where claims start while the cursor is young, is one more than the last
-- number that had been drawn at the cursor before, if nearly all transactions that had
-- drawn a number by then are over, and otherwise `start`; but never past the first of
-- these jobs. Jobs of the other transactions are found by the sweep, and go to the end
-- of their lane.
-- Result: true if the cursor was moved.
-- Locks: none. It appends.
-- Called only by settle_and_claim(), with its search_path and settings.

create function readpast.move_cursor(lane_id bigint, places tid[], start bigint,
                                     lease interval, alone boolean)
returns boolean
language plpgsql volatile
as $body$
declare
	first  bigint := (select j.seq from readpast.job j where j.ctid = places[1]);
	moment timestamptz := clock_timestamp();
	visit  timestamptz := moment + least(lease, readpast.visit_age());
	newest record;
begin
	if alone then
		perform readpast.note_claimed(lane_id, places);
		if not readpast.young() then
			return false;
		end if;
	end if;
	select c.low, c.made_at, c.visit_at,
	       case when c.next_xid <= pg_snapshot_xmin(pg_current_snapshot())
	            then least(first, c.drawn + 1) end as settled
	  into newest
	  from readpast.cursor c
	 where c.lane_id = move_cursor.lane_id
	 order by c.lane_id desc, c.head desc
	 limit 1;
	if newest.low <= first and newest.visit_at > moment
	   and newest.visit_at <= visit and cardinality(places) < readpast.visit_slice()
	   and newest.made_at > moment - readpast.cursor_every()
	then
		return false;
	end if;
	insert into readpast.cursor (lane_id, head, low, made_at, visit_at, settled,
	                             drawn, next_xid)
	select move_cursor.lane_id, first,
	       case when newest.low is null then 0 else first end, moment, visit,
	       greatest(start, newest.settled), s.last_value,
	       greatest(pg_current_xact_id(), pg_snapshot_xmax(pg_current_snapshot()))
	  from readpast.line s
	    on conflict do nothing;
	-- A job that was copied from another database may have a smaller number than
	-- an existing cursor's head.
	if not found then
		perform readpast.note_claimed(lane_id, places);
	end if;
	return true;
end
$body$;
