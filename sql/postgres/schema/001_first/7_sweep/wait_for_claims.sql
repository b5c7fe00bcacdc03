-- wait_for_claims: make sure that sweeps also find the jobs of claims that have not
-- committed yet. A cursor is a stored number at which claims start, and a sweep finds
-- claimed jobs by visiting the cursors. A claim that starts at a cursor younger than
-- cursor_every() appends no cursor of its own. Then only a visit to the older cursor
-- can find the jobs of the claim, and a visit before the claim commits does not see
-- them. So for each open transaction that may have made such a claim, the routine adds
-- a row to `recheck`. When the transaction has ended, a sweep looks again at the jobs
-- whose number is `head` or larger.
-- Such a transaction got its id before the cursor was cursor_every() old. So if a tick
-- (a row of the table `tick`) was made after the cursor had that age, the transaction's
-- id is smaller than the tick's next_xid.
-- lane_id, head: the cursor.
-- made_at: when the cursor was made. If a cursor with a smaller head was made later,
-- made_at is the later time.
-- open: the open transactions.
-- Result: true if each such claim has ended or has a row in `recheck`. False if no tick
-- has been made yet after the cursor had that age. In this case the caller calls this
-- routine again in the next sweep.
-- Locks: none.

create function readpast.wait_for_claims(lane_id bigint, head bigint,
                                         made_at timestamptz,
                                         open readpast.open_range[])
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	tick record;
begin
	if open = '{}' then
		return true;
	end if;
	select t.next_xid, t.read_at into tick
	  from readpast.tick t
	 where t.made_at < clock_timestamp() - readpast.tick_age()
	 order by t.next_xid desc
	 limit 1;
	if (tick.read_at >= made_at + readpast.cursor_every()) is not true then
		return false;
	end if;
	insert into readpast.recheck (lane_id, first, last, waits_for)
	select wait_for_claims.lane_id, head, readpast.line_end(), x.xid
	  from unnest(open) as x
	 where x.xid < tick.next_xid
	   and not exists (select 1
	                     from readpast.recheck r
	                    where r.lane_id = wait_for_claims.lane_id
	                      and r.waits_for = x.xid and r.first <= head
	                      and r.last = readpast.line_end());
	return true;
end
$body$;
