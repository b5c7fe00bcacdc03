-- take_over_job: move a job of a dropped queue into the new queue of the same name.
-- A ready job goes to the end of its new lane. If a job of the new queue has the same
-- unique key, the moved job loses its key. The job itself is kept, because its enqueue
-- was acknowledged.
-- id: the job, which the caller has locked.
-- new_id: the new queue.
-- Locks: the job's row, the rows that leave_group() locks, and if the job's lease has
-- ended, those that expire() locks. The call waits for an open transaction that inserts
-- the same key, for lock_timeout at the most. If the wait would be longer, the job
-- stays where it is.

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
	       j.seq is not null or j.run_at <= moment
	       or j.run_at = 'infinity' as due,
	       j.unique_key,
	       readpast.leave_group(j.queue_id, readpast.priority_of(j.lane_id), j.group_key,
	                            j.came, j.id) as since
	  into it
	  from readpast.job j
	 where j.id = take_over_job.id;
	lane := readpast.lane_of(new_id, readpast.priority_of(it.lane_id),
	                         readpast.class_of(it.lane_id));
	gone := exists (select 1 from readpast.job o
	                 where o.queue_id = new_id
	                   and o.unique_key = it.unique_key);
	update readpast.job j
	   set queue_id = new_id,
	       lane_id = lane,
	       seq = case when it.lease_until is null and it.due
	                  then readpast.next_in_line(lane) end,
	       run_at = coalesce(it.lease_until, it.since, j.run_at),
	       unique_key = case when not gone then j.unique_key end,
	       slot_epoch = null,
	       came = null,
	       extra = case when gone
	                    then readpast.extra_of(
	                             (j.extra).keep_ms, (j.extra).timeout_ms,
	                             (j.extra).expire_at, (j.extra).backoff, null,
	                             (j.extra).progress)
	                    else j.extra end
	 where j.id = take_over_job.id;
	perform readpast.open_lane(lane);
	perform readpast.open_lane(readpast.with_class(lane, 2));
	if it.expired then
		perform readpast.expire(array[take_over_job.id]);
	end if;
exception when lock_not_available or unique_violation then
	null; -- leave the job: an open transaction inserts its key
end
$body$;
