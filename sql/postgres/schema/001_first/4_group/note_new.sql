-- note_new: give jobs that an enqueue has just added a slot of their group, or note
-- that they wait for one. slots_for_new() has decided which of them stand in the ready
-- line.
-- An enqueue of waiting jobs always leaves a recheck request. A job of the group may end
-- at the same moment, in a transaction that cannot see the new jobs, and so would admit
-- none of them.
-- queue_id, group_key: the group.
-- first_id, last_id, created_at: the jobs have this time of creation, and ids in this
-- range. A job of another enqueue with the same time is left alone, because it has a row
-- already or is not visible.
-- The jobs must be found by their ids: the index job_scheduled has all waiting jobs, so
-- the condition on run_at is one that no index can answer.
-- Result: none.
-- Locks: none.

create function readpast.note_new(queue_id integer, group_key text,
                                  first_id bigint, last_id bigint,
                                  created_at timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
	select j.queue_id, note_new.group_key, j.id,
	       readpast.priority_of(j.lane_id), j.seq
	  from readpast.job j
	  join readpast.queue q on q.id = j.queue_id and q.group_limit > 0
	 where j.id between first_id and last_id
	   and j.created_at = note_new.created_at
	   and j.queue_id = note_new.queue_id
	   and (j.extra).group_key = note_new.group_key and j.seq is not null
	   and j.lease_until is null
	   and not exists (select 1 from readpast.group_slot s
	                    where s.queue_id = j.queue_id
	                      and s.group_key = note_new.group_key
	                      and s.job_id = j.id);
	insert into readpast.group_wait
	       (queue_id, group_key, priority, came, job_id, run_at)
	select j.queue_id, note_new.group_key, readpast.priority_of(j.lane_id),
	       nextval('readpast.line'), j.id, j.created_at
	  from (select j.* from readpast.job j
	         where j.id between first_id and last_id
	           and j.created_at = note_new.created_at
	           and j.queue_id = note_new.queue_id
	           and (j.extra).group_key = note_new.group_key
	           and j.seq is null and not isfinite(j.run_at)
	         order by j.id) j
	 where not exists (select 1 from readpast.group_wait w
	                    where w.job_id = j.id);
	if found then
		insert into readpast.group_recheck (queue_id, group_key)
		values (note_new.queue_id, note_new.group_key);
	end if;
end
$body$;
