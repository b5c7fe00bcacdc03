-- need_object: raise an error unless the headers are a JSON object.
-- headers: JSON, or null.
-- Result: none. SQLSTATE RP003: the headers are not an object.
-- Locks: none.

create function readpast.need_object(headers json) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if json_typeof(headers) <> 'object' then
		raise exception 'the headers are not a JSON object'
			using errcode = 'RP003';
	end if;
end
$body$;
