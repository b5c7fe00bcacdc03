-- fire_alone: enqueue the jobs of one schedule for all its times that are due. If the
-- time zone of the schedule cannot be loaded, the times after the first one are
-- unknown. In this case only the first due time fires, and a call a minute later tries
-- to load the zone.
-- s: the schedule, which the caller has locked.
-- moment: the present time.
-- Result: how many jobs were added. Null if a lock was not free in time. In this case
-- the schedule stays due.
-- Locks: the schedule's row, and the rows that fire_one() locks.

create function readpast.fire_alone(s readpast.schedule, moment timestamptz)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	has_fired boolean := s.retry_at is not null and s.last_at = s.next_at;
	plan   record;
	job_id bigint;
	why    text;
	due    timestamptz;
	error  text;
	retry  timestamptz;
	added  integer := 0;
begin
	begin
		select * into plan
		  from readpast.due_fires(
		           s.sets, s.zone, s.anchor, s.missed,
		           case when has_fired
		                then readpast.next_fire(s.sets, s.zone, s.anchor, s.next_at)
		                else s.next_at end, moment);
	exception when invalid_parameter_value then
		error := sqlerrm;
		retry := moment + readpast.zone_retry_age();
		select case when has_fired or s.missed = 2
		                 and s.next_at <= moment - readpast.missed_age()
		            then '{}' else array[s.next_at] end as fires,
		       0 as missed, s.next_at as next_at
		  into plan;
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
	exception
		when transaction_rollback or insufficient_resources then raise;
		when lock_not_available then return null;
		when others then added := 0; job_id := null; error := sqlerrm;
	end;
	due := plan.fires[cardinality(plan.fires)];
	update readpast.schedule u
	   set next_at = plan.next_at, retry_at = retry,
	       last_at = coalesce(due, u.last_at),
	       last_job_id = case when due is null then u.last_job_id else job_id end,
	       last_error = case when coalesce(due, retry, u.retry_at) is null
	                         then u.last_error else coalesce(error, why) end
	 where u.id = s.id;
	return added;
end
$body$;
