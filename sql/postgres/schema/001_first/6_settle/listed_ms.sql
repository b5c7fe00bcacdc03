-- listed_ms: return how long a job with its own list of delays waits after an attempt
-- failed.
-- backoff: the list, a JSON array of milliseconds, or null. The last delay repeats.
-- attempt: the number of the attempt that failed, from 1.
-- Result: milliseconds, or null without a list.
-- Locks: none.

create function readpast.listed_ms(backoff json, attempt integer) returns bigint
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return (backoff ->> (least(attempt, json_array_length(backoff)) - 1))::bigint;
end
$body$;
