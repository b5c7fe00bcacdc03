-- free_starts: return how many jobs of a queue with a rate may start now. This is
-- rate_count minus the number of jobs that have started within the last rate_ms. Times
-- far in the future, which were stored before the clock was set back, do not count.
-- queue_id: the queue.
-- rate_count, rate_ms: at most rate_count jobs may start within any rate_ms. A
-- rate_count of 0: any number.
-- Result: 0 or more. Null without a rate.
-- Locks: none. The result stays right only while the caller holds the lock of
-- lock_limit().

create function readpast.free_starts(queue_id integer, rate_count integer,
                                     rate_ms bigint)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	moment bigint := readpast.epoch_us(clock_timestamp());
begin
	if rate_count = 0 then
		return null;
	end if;
	return greatest(0, rate_count - (
		select coalesce(sum(s.jobs), 0)
		  from readpast.start s
		 where s.queue_id = free_starts.queue_id
		   and s.at_us > moment - rate_ms * 1000
		   and s.at_us < moment + rate_ms * 1000));
end
$body$;
