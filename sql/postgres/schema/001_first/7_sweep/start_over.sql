-- start_over: make the sweep look at the whole ready line again. This is necessary if
-- somebody truncated the table `cursor`, or if the clock was set back. In the first
-- case the sweep's own two cursors (the rows of the lanes 0 and -1) are missing. In the
-- second case they are later than now. If neither is true, the routine does nothing.
-- The routine requests a recheck of each lane, and replaces the sweep's own cursors by
-- new ones that start at 0. It keeps the cursors of lanes, because they say what the
-- sweep must still visit. If the clock was set back, some of these visits are planned
-- too late, so the routine changes their time to now.
-- Locks: the sweep's own cursors, and cursors whose visit is planned too late. Rows
-- that other transactions have locked are skipped. If another sweep also starts over,
-- the call waits for that sweep.

create function readpast.start_over() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	if exists (select 1 from readpast.cursor c where c.lane_id = -1)
	   and greatest(readpast.newest_head(0), readpast.newest_head(-1))
	       <= readpast.epoch_us(moment)
	then
		return;
	end if;
	insert into readpast.recheck (lane_id, first, last)
	select distinct l.lane_id, 0, s.last_value
	  from readpast.lane l, readpast.line s;
	update readpast.cursor c
	   set made_at = moment,
	       visit_at = moment
	 where c.ctid = any (array(
	           select c.ctid
	             from readpast.cursor c
	            where c.low <= c.head
	              and c.visit_at > moment + readpast.visit_age()
	              for update skip locked));
	delete from readpast.cursor c
	 where c.ctid = any (array(
	           select c.ctid
	             from readpast.cursor c
	            where c.lane_id <= 0
	              for update skip locked));
	insert into readpast.cursor (lane_id, head, low, made_at, visit_at, settled)
	values (0, 0, 1, moment, 'infinity', 0),
	       (-1, 0, 1, moment, 'infinity', 0)
	    on conflict do nothing;
end
$body$;
