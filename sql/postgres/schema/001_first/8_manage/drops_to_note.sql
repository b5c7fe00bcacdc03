-- drops_to_note: list the dropped queues whose row in `dropped` has no transaction id
-- yet. note_drops() then writes the id of this transaction to these rows.
-- Result: the ids of the queues. The list is empty if this transaction already has an
-- id, because it may have got this id before the queue was dropped. In this case a
-- transaction with a larger id may have begun before the drop, too, and may still add
-- jobs to the queue.
-- Locks: none.

create function readpast.drops_to_note() returns integer[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if pg_current_xact_id_if_assigned() is not null then
		return '{}';
	end if;
	return array(select d.queue_id from readpast.dropped d where d.xid is null);
end
$body$;
