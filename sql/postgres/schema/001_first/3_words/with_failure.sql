-- with_failure: add a failed attempt to a job's list of failures. The list has at most
-- most_failures() elements. If it is full, the oldest element is removed.
-- failures: the list so far, or null.
-- attempt: the number of the attempt.
-- worker_id: the worker that had the job.
-- error: the error text, or null.
-- Result: the new list.
-- Locks: none.

create function readpast.with_failure(failures jsonb, attempt integer,
                                      worker_id bigint, error text)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return case when jsonb_array_length(failures) >= readpast.most_failures()
	            then failures - 0
	            else coalesce(failures, '[]') end
	       || jsonb_build_array(jsonb_build_object(
	              'attempt', attempt,
	              'at', readpast.epoch_ms(clock_timestamp()),
	              'worker', (select w.name from readpast.worker w
	                          where w.id = worker_id),
	              'text', error));
end
$body$;
