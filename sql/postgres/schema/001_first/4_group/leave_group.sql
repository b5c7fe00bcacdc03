-- leave_group: a job leaves its group: it has ended, or it is scheduled, or it changes
-- its queue or its group. If it waited, it waits no longer. If it had a slot, the next
-- job of the group gets the slot.
-- queue_id, group_key: the group. If the group is null, nothing happens.
-- id: the job, whose row the caller has locked or deleted.
-- Result: since when the job was ready, if it waited, otherwise null.
-- Locks: the job's row of group_wait, and the rows that free_group_slots() locks.

create function readpast.leave_group(queue_id integer, group_key text, id bigint)
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
	delete from readpast.group_wait w where w.job_id = id returning w.run_at into since;
	if since is null then
		perform readpast.free_group_slots(
		            array[(queue_id, group_key, id, 0, 0)::readpast.group_slot]);
	end if;
	return since;
end
$body$;
