-- not_ahead: cut a list of jobs before the first one that must not be prefetched. A
-- worker prefetches a job if it claims the job earlier than it can start the job. Two
-- kinds of jobs must not be prefetched. A job with max_attempts 1 would lose its only
-- attempt if the worker died before the start. A job with a payload over 1 MiB would
-- take too much of the worker's memory.
-- places: the jobs' rows (ctid), in the order of the line.
-- at_once: how many jobs the worker can start immediately. This many jobs at the
-- beginning of the list are not prefetched and are never cut off.
-- Result: the places up to the cut.
-- Locks: none.

create function readpast.not_ahead(places tid[], at_once integer) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return places[:(select coalesce(min(array_position(places, j.ctid)) - 1,
	                                cardinality(places))
	                  from readpast.job j
	                 where j.ctid = any (places)
	                   and (j.max_attempts = 1
	                        or octet_length(j.payload) > :large_payload)
	                   and array_position(places, j.ctid) > at_once)];
end
$body$;
