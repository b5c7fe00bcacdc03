-- is_object: is a text a JSON object? With it the library finds which of several headers
-- was refused; the error of need_object() does not say which.
-- headers: any text, or null.
-- Result: true or false; null for null.
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
