-- move_work_list: move the sweep's own cursor for its work list (lane -1 of the table
-- `cursor`). The work list is the list of cursors to visit, and this row records the
-- time at which the list begins. The new beginning is settled_time(). If a cursor with
-- a visit_at before the new beginning still has to be visited, the old beginning stays.
-- In this case the routine only records that the list was read from its beginning, and
-- does so at most once every full_list_every().
-- head: the beginning of the list so far, in microseconds since 1970.
-- Precondition: a sweep has just read the list.
-- Locks: the cursors of lane -1 that the routine changes or deletes. Rows that other
-- transactions have locked are skipped.

create function readpast.move_work_list(head bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
#variable_conflict use_variable
declare
	til timestamptz := readpast.settled_time();
begin
	if til > readpast.at_us(head) and not exists (
		select 1 from readpast.cursor c
		 where c.low <= c.head and c.visit_at >= readpast.at_us(head)
		   and c.visit_at < til)
	then
		perform readpast.move_own_cursor(-1, head, readpast.epoch_us(til));
	else
		update readpast.cursor c
		   set made_at = clock_timestamp()
		 where c.ctid = (select c.ctid
		                   from readpast.cursor c
		                  where c.lane_id = -1 and c.head = move_work_list.head
		                    and c.made_at < clock_timestamp()
		                                    - readpast.full_list_every()
		                    for update skip locked);
	end if;
end
$body$;
