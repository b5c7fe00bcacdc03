-- wait_for_claims: make sure that the sweep misses no open claim that relied on this
-- cursor. (A claim that finds a cursor younger than cursor_every() appends none of its
-- own, and relies on that one.) For each open transaction that may have made such a
-- claim, this routine requests a recheck. It knows these transactions only by the tick
-- of an earlier sweep, a row of the table `tick`. So the first sweep after the cursor
-- was made returns false.
-- lane_id, head: the cursor.
-- made_at: when the cursor was made. If a cursor with a smaller head was made later:
-- that time.
-- open: the open transactions.
-- Result: true if each such claim has committed or has a recheck request. False: call
-- this again in the next sweep.
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
