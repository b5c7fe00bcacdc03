-- drops_to_note: Notes that have no sweep's number yet; none where this
-- transaction has a number.

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
