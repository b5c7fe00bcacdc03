-- listed_ms: how long a job that has a list of delays waits after its attempt failed.
-- backoff: the list, a JSON array of milliseconds, of which the last repeats; or null;
-- attempt: the number of the attempt that failed, from 1.
-- Result: milliseconds; null without a list.
-- Locks: none.

create function readpast.listed_ms(backoff json, attempt integer) returns bigint
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return (backoff ->> (least(attempt, json_array_length(backoff)) - 1))::bigint;
end
$body$;
