-- move_own_cursor: move one of the sweep's own cursors, unless another sweep, which
-- may be open, has just moved it.
-- lane_id: 0 or -1; was: its head now; head: the new one. Both are microseconds
-- since 1970.
-- Precondition: nothing is left before the new head, and no open transaction can
-- put anything there.
-- Locks: the cursors that it deletes; where another sweep has the newest one locked
-- nothing is done.

create function readpast.move_own_cursor(lane_id bigint, was bigint, head bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
begin
	perform 1
	   from readpast.cursor c
	  where c.lane_id = move_own_cursor.lane_id and c.head = was
	    for update skip locked;
	if not found then
		return;
	end if;
	insert into readpast.cursor (lane_id, head, low, made_at, visit_at, settled)
	values (move_own_cursor.lane_id, move_own_cursor.head,
	        move_own_cursor.head + 1, clock_timestamp(), 'infinity',
	        move_own_cursor.head)
	    on conflict do nothing;
	delete from readpast.cursor c
	 where c.ctid = any (array(
	           select c.ctid
	             from readpast.cursor c
	            where c.lane_id = move_own_cursor.lane_id
	              and c.head >= was and c.head < move_own_cursor.head
	              for update skip locked));
end
$body$;
