-- with_failure: A job's failed attempts, the last ten, with one more.

create function readpast.with_failure(failures jsonb, attempt integer,
                                      worker_id bigint, error text)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return case when jsonb_array_length(failures) >= 10 then failures - 0
	            else coalesce(failures, '[]') end
	       || jsonb_build_array(jsonb_build_object(
	              'attempt', attempt,
	              'at', readpast.epoch_ms(clock_timestamp()),
	              'worker', (select w.name from readpast.worker w
	                          where w.id = worker_id),
	              'text', error));
end
$body$;
