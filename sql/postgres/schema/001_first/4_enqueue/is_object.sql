-- is_object: is a text a JSON object? The library uses this to find which of several
-- headers was refused, because the error of need_object() does not say that.
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
