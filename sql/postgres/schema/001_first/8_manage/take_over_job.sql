-- take_over_job: The job, locked, at the end of its lane there, or in its time.
-- Its key goes with it unless a job there has it: the job was acknowledged, and
-- is not lost for that.

create function readpast.take_over_job(id bigint, new_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	it     record;
	lane   bigint;
	gone   boolean;
begin
	select j.lane_id, j.lease_until, j.lease_until <= moment as expired,
	       j.seq is not null or j.run_at <= moment as due,
	       j.unique_key
	  into it
	  from readpast.job j
	 where j.id = take_over_job.id;
	lane := readpast.lane_of(new_id, readpast.priority_of(it.lane_id),
	                         (it.lane_id % 4)::integer);
	gone := exists (select 1 from readpast.job o
	                 where o.queue_id = new_id
	                   and o.unique_key = it.unique_key);
	update readpast.job j
	   set queue_id = new_id,
	       lane_id = lane,
	       seq = case when it.lease_until is null and it.due
	                  then readpast.next_in_line(lane) end,
	       run_at = coalesce(it.lease_until, j.run_at),
	       unique_key = case when not gone then j.unique_key end
	 where j.id = take_over_job.id;
	perform readpast.open_lane(lane);
	if it.expired then
		perform readpast.expire(array[take_over_job.id]);
	end if;
exception when lock_not_available or unique_violation then
	null; -- somebody just puts in a job with its key
end
$body$;
