-- change_place: write the new values of a job. change_live() has worked out these
-- values. A job of a group keeps its slot (the right to run), or its place among the
-- waiting jobs of the group, unless its queue changes or its new time is in the future.
-- If the priority of a waiting job changes, the job goes to the end of the waiting jobs
-- with the new priority.
-- id: the job, which the caller has locked.
-- new_id: the new queue of the job.
-- lane: the new lane of the job (a queue, a priority and a class, see lane_of()).
-- due: the new time at which the job becomes ready. Null: the job's time stays as it
-- is.
-- is_due: true if `due` is not later than now.
-- max_attempts: the new maximum, or null.
-- Precondition: this transaction has got its transaction id, see take_xid().
-- Result: 0: the job was changed. 1: another live job of the new queue has the same
-- unique key.
-- Locks: the job's row, a row of `waiter`, if a worker waits, and the rows that
-- leave_place(), move_slot() and block_barred() lock. The call waits for an open
-- transaction that inserts the same key.

create function readpast.change_place(
	id bigint, new_id integer, lane bigint, due timestamptz, is_due boolean,
	max_attempts integer)
returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
begin
	perform readpast.leave_place(j.id, lane, j.group_key, is_due)
	   from readpast.job j
	  where j.id = change_place.id;
	update readpast.job j
	   set queue_id = new_id,
	       lane_id = lane,
	       seq = case when due is null and j.seq is null or not is_due
	                    or j.run_at = 'infinity' then null
	                  when j.lane_id = lane and j.seq is not null then j.seq
	                  else readpast.next_in_line(lane) end,
	       run_at = case when j.run_at = 'infinity' then j.run_at
	                     else coalesce(due, j.run_at) end,
	       max_attempts = coalesce(change_place.max_attempts, j.max_attempts)
	 where j.id = change_place.id;
	perform readpast.move_slot(change_place.id);
	perform readpast.open_lane(lane);
	-- If an attempt fails, try_again() moves the job to the normal lane (class 2),
	-- but does not add this lane to the table `lane`. Add it here, so that claims
	-- visit it.
	perform readpast.open_lane(readpast.with_class(lane, 2));
	perform readpast.block_barred(array[change_place.id]);
	perform readpast.wake(new_id);
	perform readpast.notify_job_waiters(array[change_place.id]);
	return 0;
exception when unique_violation then
	return 1;
end
$body$;
