-- end_attempt: decide whether a job keeps its slot after an attempt that did not end
-- the job. Usually the job keeps its slot, so with a group limit of 1 its group waits
-- for the retry. But if the queue has group_pass and the job is scheduled, the job
-- loses the slot, and the next job of the group gets it. If the job is ready but may not
-- run now, see barred_jobs(), it waits for its group. If the whole queue is held, the job
-- is blocked until the end of the hold, but keeps its place in the ready line.
-- id: the job, which the caller has locked.
-- state: the job's state before this call: 1 scheduled, 2 ready.
-- Result: the job's state after this call: 1, 2, or 7 blocked.
-- Locks: the rows that free_group_slots() or block_jobs() locks.

create function readpast.end_attempt(id bigint, state integer) returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select j.queue_id, j.lane_id, j.group_key, j.came, q.group_pass,
	       q.held_until > clock_timestamp() as is_held
	  into it
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 where j.id = end_attempt.id;
	if state = 2 and it.group_key is not null then
		perform readpast.block_barred(array[id]);
		return (select case when j.seq is null or it.is_held then 7 else 2 end
		          from readpast.job j where j.id = end_attempt.id);
	elsif it.group_pass = 1 and it.group_key is not null then
		perform readpast.leave_group(it.queue_id, readpast.priority_of(it.lane_id),
		                             it.group_key, it.came, id);
	end if;
	return case when state = 2 and it.is_held then 7 else state end;
end
$body$;
