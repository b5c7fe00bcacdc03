-- end_attempt: an attempt of a job has ended without an end of the job. The job keeps its
-- slot of its group, so with a group limit of 1 the group waits for its retry. But if the
-- queue has group_pass and the job is not ready at once, the next job of the group gets
-- the slot. If the group is held, the job waits for the end of the hold.
-- id: the job, which the caller has locked.
-- state: its state now: 1 scheduled, 2 ready.
-- Result: none.
-- Locks: the rows that free_group_slots() or block_jobs() locks.

create function readpast.end_attempt(id bigint, state integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select j.queue_id, (j.extra).group_key, q.group_pass into it
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id
	 where j.id = end_attempt.id;
	if it.group_key is null then
		return;
	elsif state = 2 then
		perform readpast.block_barred(array[id]);
	elsif it.group_pass = 1 then
		perform readpast.leave_group(it.queue_id, it.group_key, id);
	end if;
end
$body$;
