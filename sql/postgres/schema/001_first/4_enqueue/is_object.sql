-- is_object: is a text a JSON object? If need_object() refuses one of several headers,
-- its error does not say which one. Then the library calls this routine for each of
-- the headers.
-- headers: any text, or null.
-- Result: true or false. Null if the text is null.
-- Locks: none.

create function readpast.is_object(headers text) returns boolean
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $body$
begin
	return json_typeof(headers::json) = 'object';
exception when data_exception then
	return false;
end
$body$;
