-- drops_to_note: list the dropped queues whose row in `dropped` has no transaction id
-- yet. note_drops() writes the id.
-- Result: the ids of the queues. If this transaction has an id already, the list is
-- empty. In this case note_drops() could not use the id, because a transaction that has
-- just put a job into such a queue may have a larger id.
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
