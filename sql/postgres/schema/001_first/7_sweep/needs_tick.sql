-- needs_tick: tell whether a new tick is needed (a row of the table `tick`, see
-- make_tick()). It is needed if the newest tick is older than tick_age(), and if
-- numbers of the ready line were drawn, or cursors were appended, after that tick.
-- Ticks of another cluster, which came with a restored dump, are ignored.
-- Result: true if a tick is needed.
-- Locks: none.

create function readpast.needs_tick() returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $body$
declare
	moment timestamptz := clock_timestamp();
	newest record;
begin
	select t.seq, t.made_at into newest
	  from readpast.tick t
	 where t.next_xid < pg_snapshot_xmax(pg_current_snapshot())
	 order by t.next_xid desc
	 limit 1;
	if newest.made_at between moment - readpast.tick_age() and moment then
		return false;
	end if;
	return exists (select 1 from readpast.line s
	                where s.is_called and s.last_value > coalesce(newest.seq, 0))
	       or exists (select 1
	                    from (select c.made_at from readpast.cursor c
	                           where c.low <= c.head and c.visit_at <= moment
	                           order by c.visit_at desc
	                           limit 1) c
	                   where c.made_at > newest.made_at);
end
$body$;
