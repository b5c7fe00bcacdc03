-- move_own_cursor: move one of the two cursors (rows of the table `cursor`) that the
-- sweep uses for itself. If another sweep is moving the same cursor or has just moved
-- it, nothing changes.
-- lane_id: 0 (scheduled jobs) or -1 (the work list).
-- was: the present head of the cursor, in microseconds since 1970.
-- head: the new head, in microseconds since 1970.
-- Precondition: if lane_id is 0, no scheduled job has a run_at before the new head. If
-- lane_id is -1, no cursor that must be visited has a visit_at before the new head. No
-- open transaction can add such a job or cursor.
-- Locks: the cursors that the routine deletes. If another transaction has locked the
-- newest of these cursors, nothing changes.

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
