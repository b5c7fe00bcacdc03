-- is_object: is a text a JSON object? The headers of a job must be a JSON object. If
-- several jobs are enqueued together, the error of need_object() does not say which job
-- has bad headers. After this error the library calls this routine for the headers of
-- each job.
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
