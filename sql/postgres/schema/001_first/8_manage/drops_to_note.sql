-- drops_to_note: the dropped queues whose row needs a transaction id from note_drops().
--
-- Result: their ids. There are none if this transaction has an id already, because that
-- id might be smaller than that of a transaction that has just put a job into such a
-- queue.
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
