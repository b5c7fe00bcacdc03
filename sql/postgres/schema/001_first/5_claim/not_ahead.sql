-- not_ahead: cut a list of jobs before the first one that must not be fetched ahead.
-- These are jobs with a single attempt, which would be used up if the worker dies before
-- it starts the job, and jobs with a payload over 1 MiB, of which a worker would hold
-- many more in memory than it works on. The first `at_once` jobs are started at once, so
-- for them this does not matter.
-- places: the jobs' rows (ctid), in the order of the line; at_once: see above.
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
