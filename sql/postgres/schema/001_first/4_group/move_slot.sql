-- move_slot: after a job that has a slot of its group has got another place in the ready
-- line, record this place in the slot. Other jobs of the group may come before the job
-- now, so the routine adds a recheck request. If the job has no slot or is not in the
-- line, nothing changes.
-- id: the job, which the caller has locked.
-- Result: none.
-- Locks: the job's row of group_slot. A transaction that changes such a row has locked
-- the job before, so this call does not wait.

create function readpast.move_slot(id bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	-- Delete and insert, because an enqueue that replaces a job may not update slots.
	with gone as (
		delete from readpast.group_slot s
		 using readpast.job j
		 where j.id = move_slot.id and j.seq is not null
		   and s.queue_id = j.queue_id and s.group_key = j.group_key
		   and s.job_id = j.id
		returning s.queue_id, s.group_key, s.job_id,
		          readpast.priority_of(j.lane_id) as priority, j.seq),
	moved as (
		insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
		select g.queue_id, g.group_key, g.job_id, g.priority, g.seq from gone g)
	insert into readpast.group_recheck (queue_id, group_key)
	select g.queue_id, g.group_key from gone g;
end
$body$;
