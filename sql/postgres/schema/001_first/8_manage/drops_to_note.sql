-- drops_to_note: the dropped queues to which note_drops() has to give a transaction id.
-- Result: their ids; none if this transaction has an id already: it might be
-- smaller than that of a transaction that has just put a job into such a queue.
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
