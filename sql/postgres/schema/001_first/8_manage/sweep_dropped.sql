-- sweep_dropped: handle dropped queues. A transaction that was open when a queue was
-- dropped may still put jobs into it. The routine moves these jobs to a new queue of
-- the same name. When no open transaction can add jobs to a dropped queue any more, the
-- routine deletes the queue's row in `dropped`.
-- Locks: the rows of `dropped`, and the jobs that the routine moves. Rows that other
-- transactions have locked are skipped. The call may wait for other transactions, for
-- at most 50 ms, see take_over().

create function readpast.sweep_dropped() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it   record;
	seen pg_snapshot;
	over boolean;
begin
	for it in select d.queue_id, d.name, d.xid, d.open from readpast.dropped d
	loop
		seen := pg_current_snapshot();
		-- Only transactions with smaller ids than `xid` can add jobs to the
		-- queue, see note_drops(). `over` is true if all these transactions
		-- have ended. If `xid` is larger than any id of this cluster, the row
		-- comes from another cluster's dump, so no such transaction runs here.
		over := it.xid < pg_snapshot_xmin(seen)
		        or it.xid >= pg_snapshot_xmax(seen)
		           and it.xid is distinct from pg_current_xact_id_if_assigned();
		continue when over is not true and it.xid <= pg_snapshot_xmax(it.open)
		              and not exists (
		                  select 1 from pg_snapshot_xip(it.open) as x(xid)
		                   where x.xid < it.xid
		                     and pg_visible_in_snapshot(x.xid, seen));
		perform 1
		   from readpast.dropped d
		  where d.queue_id = it.queue_id
		    for update skip locked;
		continue when not found;
		perform readpast.take_over(it.queue_id, it.name);
		if over and not exists (select 1 from readpast.left_in(it.queue_id)) then
			perform readpast.forget_hints(it.queue_id);
			delete from readpast.dropped d where d.queue_id = it.queue_id;
		else
			update readpast.dropped d
			   set open = seen
			 where d.queue_id = it.queue_id;
		end if;
	end loop;
end
$body$;
