-- start_over: request a recheck of the whole ready line if the sweep's own cursors
-- cannot be trusted. They are missing after a truncation of the hints, and later than
-- now after the clock was set back. Then the sweep's own cursors begin again at 0. The
-- cursors of lanes stay, because they say which places are still to be visited. If the
-- visit of such a cursor was planned by the old clock, it is made now.
-- Locks: the sweep's own cursors, and cursors whose planned visit is too late. Rows
-- that other transactions have locked are skipped. The call waits for another sweep
-- that is doing the same.

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
