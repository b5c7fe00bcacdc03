-- drops_to_note: list the dropped queues whose row needs a transaction id, which
-- note_drops() writes.
-- Result: the ids of the queues. The list is empty if this transaction has an id
-- already. That id might be smaller than the id of a transaction that has just put a
-- job into such a queue.
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
