-- leave_group: remove a job from its group, because it has ended, is scheduled, or
-- changes its queue or group. If the job waited for its group, delete its row of
-- group_wait. If it had a slot, the next job of the group gets the slot.
-- queue_id, priority, group_key, came, id: the job's columns. The caller has locked or
-- deleted the job's row. If the job has no group, nothing happens.
-- Result: if the job waited, the time at which it became due. Otherwise null.
-- Locks: the job's row of group_wait, and the rows that free_group_slots() locks.

create function readpast.leave_group(queue_id integer, priority integer,
                                     group_key text, came bigint, id bigint)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_variable
declare
	since timestamptz;
begin
	if group_key is null then
		return null;
	end if;
	delete from readpast.group_wait w
	 where w.queue_id = queue_id and w.group_key = group_key
	   and w.priority = priority and w.came = came and w.job_id = id
	returning w.run_at into since;
	if since is null then
		perform readpast.free_group_slots(
		            array[(queue_id, group_key, id, priority,
		                   null)::readpast.group_slot]);
	end if;
	return since;
end
$body$;
