-- fire_due: put the jobs of schedules that are due into their queues. Workers and
-- sweep() call this about once a second, and any program may call it. Each instant of a
-- schedule fires once, however many clients call.
-- most: fire at most this number of schedules.
-- Result:
--   schedules: how many schedules were due.
--   jobs: how many jobs were added.
-- Locks: the schedules' rows, and the rows that fire_one() locks. Schedules that other
-- transactions have locked are skipped. For other rows the call waits for lock_timeout
-- at the most, because others may be waiting for the sweep. After that time the
-- schedule stays due.

create function readpast.fire_due(most integer default 1000,
                                  out schedules integer, out jobs integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $body$
declare
	moment timestamptz := clock_timestamp();
	s      readpast.schedule;
	plan   record;
	job_id bigint;
	added  integer;
	why    text;
	due    timestamptz;
	error  text;
begin
	schedules := 0;
	jobs := 0;
	for s in
		select * from readpast.schedule d
		 where d.paused_at is null and d.next_at <= moment
		 order by d.next_at
		 limit most
		   for update skip locked
	loop
		added := 0;
		error := null;
		job_id := null;
		why := null;
		begin
			select * into plan from readpast.due_fires(s, moment);
		exception when invalid_parameter_value then
			-- The server no longer knows the time zone. The schedule gets
			-- no next time, so it does not fire again.
			select array[s.next_at] as fires, 0 as missed,
			       null::timestamptz as next_at into plan;
			error := sqlerrm;
		end;
		begin
			foreach due in array plan.fires loop
				select f.job_id, f.why into job_id, why
				  from readpast.fire_one(
				           s, due,
				           case when due = plan.fires[cardinality(plan.fires)]
				                then plan.missed else 0 end) f;
				added := added + (job_id is not null)::integer;
			end loop;
			jobs := jobs + added;
		exception
			when transaction_rollback or insufficient_resources then raise;
			when lock_not_available then continue;
			when others then job_id := null; error := sqlerrm;
		end;
		due := plan.fires[cardinality(plan.fires)];
		update readpast.schedule u
		   set next_at = plan.next_at,
		       last_at = coalesce(due, u.last_at),
		       last_job_id = case when due is null then u.last_job_id
		                          else job_id end,
		       last_error = case when due is null then u.last_error
		                         else coalesce(error, why) end
		 where u.id = s.id;
		schedules := schedules + 1;
	end loop;
end
$body$;
