-- backoff_ms: return how long a job waits after an attempt failed. The time doubles
-- with each attempt, up to the queue's maximum. It varies at random by up to a tenth,
-- so that jobs that failed together are not all ready at the same moment.
-- attempt: the number of the attempt that failed, from 1.
-- backoff_ms, backoff_max_ms: the queue's settings.
-- Result: milliseconds.
-- Locks: none.

create function readpast.backoff_ms(attempt integer, backoff_ms bigint,
                                    backoff_max_ms bigint) returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return least(backoff_max_ms,
	             backoff_ms * (1::bigint << least(attempt - 1, 24)))
	       * (0.9 + random() * 0.2);
end
$body$;
