-- due_since: Until when everything that is to come in a queue has come.

create function readpast.due_since(queue_id integer) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return coalesce(readpast.at_us(nullif(readpast.head_of(-queue_id), 0)),
	                '-infinity');
end
$body$;
