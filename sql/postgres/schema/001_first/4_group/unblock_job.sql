-- unblock_job: remove a job from its group before its queue, group, lane or time
-- changes. If the job waited for its group, move it into the ready line, without a
-- slot. The caller calls block_barred() after the change.
-- id: the job, which the caller has locked and which is not running.
-- Result: none.
-- Locks: the rows that leave_group() locks.

create function readpast.unblock_job(id bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	since timestamptz := (
		select readpast.leave_group(j.queue_id, readpast.priority_of(j.lane_id),
		                            j.group_key, j.came, j.id)
		  from readpast.job j
		 where j.id = unblock_job.id);
begin
	if since is not null then
		update readpast.job j
		   set seq = readpast.next_in_line(j.lane_id), run_at = since, came = null
		 where j.id = unblock_job.id;
	end if;
end
$body$;
