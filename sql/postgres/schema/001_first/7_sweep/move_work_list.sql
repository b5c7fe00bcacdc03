-- move_work_list: move the beginning of the sweep's work list, the list of cursors that
-- must be visited. The row of lane -1 of the table `cursor` has this beginning, which
-- is a time. The new beginning is settled_time(). It is not set if a cursor with an
-- earlier visit_at must still be visited. In this case the routine only records, at
-- most once every full_list_every(), that the whole list was read. The next sweeps then
-- read only the end of the list, see visit_cursors().
-- head: the present beginning of the list, in microseconds since 1970.
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
