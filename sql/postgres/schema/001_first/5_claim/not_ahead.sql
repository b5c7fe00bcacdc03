-- not_ahead: cut a list of jobs before the first one that must not be prefetched. Two
-- kinds of jobs must not be: a job with a single attempt, because that attempt would be
-- lost if the worker died before it started the job; and a job with a payload over 1
-- MiB, because a worker would hold many of them in memory. The worker starts the first
-- `at_once` jobs at once, so they are never cut.
--
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
