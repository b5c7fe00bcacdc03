-- is_object: is this text a JSON object? need_object() cannot say which of several texts
-- is not one.

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
