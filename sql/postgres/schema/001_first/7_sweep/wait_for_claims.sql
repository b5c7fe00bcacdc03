-- wait_for_claims: have all claims committed that appended no cursor because this one was
-- young? For the claims of open transactions it adds recheck requests. The answer is known
-- from the second sweep on, by the tick of the sweep before.
--
-- lane_id, head: the cursor; made_at: when it was made, or a cursor with a smaller head if
-- that was later; open: the open transactions.
-- Result: true if each such claim has committed or has a recheck request; false: ask again
-- in the next sweep.
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
