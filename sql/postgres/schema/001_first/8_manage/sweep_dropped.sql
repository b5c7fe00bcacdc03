-- sweep_dropped: jobs that are left in dropped queues move to new queues of the same
-- names.
--
-- An enqueue locks nothing of its queue. So its transaction may be open while the queue
-- is dropped, and commit later: its jobs are in a queue that is no more. They came after
-- the drop, so they belong into a new queue of that name.
--
-- `dropped` says where to look. Each enqueue is given its transaction's id before it
-- reads the queue's row. So a sweep that saw the note before it was given its own id has
-- a larger one than every transaction that may have read that row. When these have
-- ended, no more jobs can come, and the note is removed. Until then the sweep looks again
-- whenever one of them has ended.

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
		-- A number that nobody here was given yet, not even this transaction, came
		-- with a dump from elsewhere.
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
