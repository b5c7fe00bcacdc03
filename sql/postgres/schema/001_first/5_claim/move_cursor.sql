-- move_cursor: append a cursor to a lane, at the first job of a claim. When the cursor
-- is cursor_age() old, claims start there, and no longer find the jobs before it. So
-- the sweep visits these jobs once, one second after this claim, or when the lease ends
-- if that is earlier. The sweep moves the jobs that are not finished, see reclaim().
-- A claim of fewer than visit_slice() jobs appends no cursor if the visit to the lane's
-- newest cursor will find its jobs, too. This is so if the newest cursor
--   was appended less than cursor_every() ago,
--   has a `low` that is not larger than the number of the first job,
--   has not been visited yet, and will be visited no later than a new cursor would be.
-- If this transaction may stay open, the routine also adds a row to `recheck`, which
-- becomes visible together with the claim. If such a transaction is older than
-- young_age(), the routine appends no cursor, because other transactions would see the
-- cursor too late.
-- While the new cursor is younger than cursor_age(), claims may start at the smaller
-- number `settled`. Nearly all transactions that drew numbers before `settled` have
-- ended. If one of these transactions is still open, claims will not find its jobs. The
-- sweep finds these jobs and moves them to the end of their lane.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- places: the rows (ctid) of the claimed jobs, in the order of the line.
-- start: the number at which this claim started.
-- lease: how long the lease is.
-- joined: true if the transaction may stay open after the claim, because the client
-- began it. See `joined` of settle_and_claim().
-- Result: true if a cursor was appended.
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: none.

create function readpast.move_cursor(lane_id bigint, places tid[], start bigint,
                                     lease interval, joined boolean)
returns boolean
language plpgsql volatile
as $body$
declare
	first  bigint := (select j.seq from readpast.job j where j.ctid = places[1]);
	moment timestamptz := clock_timestamp();
	visit  timestamptz := moment + least(lease, readpast.visit_age());
	newest record;
begin
	if joined then
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
	-- If no row was inserted, the lane already has a cursor at this number. This
	-- can happen with jobs that were copied from another database. A sweep may have
	-- visited that cursor already, so request a recheck of the claimed jobs.
	if not found then
		perform readpast.note_claimed(lane_id, places);
	end if;
	return true;
end
$body$;
