-- note_drops: write this transaction's id to the rows of dropped queues. When all
-- transactions with smaller ids are over, no transaction can put jobs into these queues.
-- queue_ids: the result of drops_to_note() from before this transaction had its id.
-- Result: none.
-- Locks: these rows; it skips those that others have locked.

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
