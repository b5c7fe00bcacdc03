-- rate_in_ms: return how long it takes until the rate of a queue lets a job start. A
-- job may start as soon as fewer than rate_count jobs have started within the last
-- rate_ms.
-- queue_id: the queue.
-- rate_count, rate_ms: the queue's rate, see free_starts().
-- Result: milliseconds, 0 if a job may start now. Null without a rate.
-- Locks: none.

create function readpast.rate_in_ms(queue_id integer, rate_count integer,
                                    rate_ms bigint)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	moment bigint := readpast.epoch_us(clock_timestamp());
begin
	if rate_count = 0 then
		return null;
	end if;
	return coalesce((
		select greatest((max(w.at_us) + rate_ms * 1000 - moment) / 1000 + 1, 0)
		  from (select s.at_us, sum(s.jobs) over (order by s.at_us desc) as since
		          from readpast.start s
		         where s.queue_id = rate_in_ms.queue_id
		           and s.at_us > moment - rate_ms * 1000
		           and s.at_us < moment + rate_ms * 1000) w
		 where w.since >= rate_count), 0);
end
$body$;
