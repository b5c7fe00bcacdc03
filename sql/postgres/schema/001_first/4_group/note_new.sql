-- note_new: after an enqueue has added jobs that have groups, give a slot to each job
-- in the ready line, and record each other job as waiting. must_wait() has decided
-- which jobs wait.
-- queue_id: the queue.
-- requests: the groups that get recheck requests, because the enqueue did not lock
-- them. If a job of such a group ends at the same moment, the transaction that ends it
-- cannot see the new jobs, and admits none of them.
-- first_id, last_id, created_at: the new jobs were created at this time, and have ids in
-- this range. The same may be true of jobs of another enqueue. The routine does not
-- change the jobs of the other enqueue: they have their rows already, or are not visible.
-- Result: none.
-- Locks: none.

create function readpast.note_new(queue_id integer, requests text[], first_id bigint,
                                  last_id bigint, created_at timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
as $body$
begin
	insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
	select j.queue_id, (j.extra).group_key, j.id, readpast.priority_of(j.lane_id), j.seq
	  from readpast.job j
	 where j.id between first_id and last_id
	   and j.created_at = note_new.created_at and j.queue_id = note_new.queue_id
	   and (j.extra).slot_epoch is not null and j.seq is not null
	   and j.lease_until is null
	    on conflict do nothing;
	insert into readpast.group_wait (queue_id, group_key, priority, came, job_id, run_at)
	select j.queue_id, (j.extra).group_key, readpast.priority_of(j.lane_id),
	       (j.extra).came, j.id, j.created_at
	  from readpast.job j
	 where j.id between first_id and last_id
	   and j.created_at = note_new.created_at and j.queue_id = note_new.queue_id
	   and (j.extra).came is not null and j.seq is null and j.run_at = 'infinity'
	    on conflict do nothing;
	insert into readpast.group_recheck (queue_id, group_key)
	select note_new.queue_id, r.name from unnest(requests) as r(name);
end
$body$;
