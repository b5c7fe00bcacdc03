-- fire_due: enqueue the jobs of schedules that are due. Workers and sweep() call this
-- about once a second, and any program may call it. A schedule fires only once for each
-- of its times, however many clients call. fire_together() fires most schedules.
-- fire_alone() fires those that remain, or all of them if fire_together() failed. So a
-- schedule that fails does not delay the others.
-- most: fire at most this number of schedules.
-- Result:
--   schedules: how many schedules were handled. Schedules that stay due do not count.
--   jobs: how many jobs were added.
-- SQLSTATE RP003: an argument is wrong.
-- Locks: the schedules' rows, and the rows that fire_together() and fire_alone() lock.
-- Schedules that other transactions have locked are skipped. For other rows the call
-- waits for lock_timeout at the most, because other transactions may be waiting for the
-- sweep. If the wait would be longer, the schedule stays due.

create function readpast.fire_due(most integer default 1000,
                                  out schedules integer, out jobs integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set jit = off
set enable_seqscan = off
as $body$
declare
	moment timestamptz := clock_timestamp();
	ids    bigint[];
	s      readpast.schedule;
	added  integer;
begin
	if most is null or most < 1 then
		raise exception 'the argument most must be at least 1' using errcode = 'RP003';
	end if;
	ids := array(
		select d.id from readpast.schedule d
		 where d.paused_at is null
		   and coalesce(d.retry_at, d.next_at) <= moment
		 order by coalesce(d.retry_at, d.next_at)
		 limit most
		   for update skip locked);
	schedules := 0;
	jobs := 0;
	if ids <> '{}' then
		begin
			select t.schedules, t.jobs into schedules, jobs
			  from readpast.fire_together(ids, moment) t;
		exception
			when transaction_rollback or insufficient_resources then raise;
			-- Ignore the error. The loop below fires each schedule
			-- alone, and records the error of the schedule that failed.
			when others then null;
		end;
	end if;
	for s in
		select * from readpast.schedule d
		 where d.id = any (ids) and coalesce(d.retry_at, d.next_at) <= moment
		 order by coalesce(d.retry_at, d.next_at)
	loop
		added := readpast.fire_alone(s, moment);
		schedules := schedules + (added is not null)::integer;
		jobs := jobs + coalesce(added, 0);
	end loop;
end
$body$;
