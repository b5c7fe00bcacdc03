-- note_drops: write the id of this transaction to the rows of dropped queues.
-- This transaction saw the drops before it got its id. A transaction with a larger id
-- got its id later. So that transaction sees the drops, too, and puts no jobs into
-- these queues. When all transactions with smaller ids have ended, no more jobs can
-- appear in these queues.
-- queue_ids: the result of drops_to_note(), called before this transaction had its id.
-- Locks: the rows of `dropped` that the routine changes. Rows that other transactions
-- have locked are skipped.

create function readpast.note_drops(queue_ids integer[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if queue_ids = '{}' then
		return;
	end if;
	update readpast.dropped d
	   set xid = pg_current_xact_id()
	 where d.ctid = any (array(
	           select d.ctid from readpast.dropped d
	            where d.queue_id = any (queue_ids) and d.xid is null
	              for update skip locked));
end
$body$;
