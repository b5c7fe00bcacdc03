-- note_new: when an enqueue adds ready jobs of groups, give a slot to each job that
-- enters the ready line, if the queue has a group limit, and record each other job as
-- waiting.
-- lane_id, moment: the lane of the jobs, and the time at which they became due.
-- ids, seqs, cames, group_keys: for each job its id, its `seq` if it enters the ready
-- line, its `came` if it waits, and its group. A job whose group is null is left out.
-- requests, epoch: the results of must_wait().
-- Result: none.
-- Locks: none.

create function readpast.note_new(lane_id bigint, moment timestamptz,
                                  ids bigint[], seqs bigint[],
                                  cames bigint[], group_keys text[],
                                  requests text[], epoch bigint)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $body$
declare
	its_queue_id integer := readpast.queue_of(lane_id);
	its_priority integer := readpast.priority_of(lane_id);
begin
	if epoch is not null then
		insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
		select its_queue_id, n.name, n.id, its_priority, n.seq
		  from unnest(ids, seqs, group_keys) as n(id, seq, name)
		 where n.name is not null and n.seq is not null;
	end if;
	if array_remove(cames, null) <> '{}' then
		insert into readpast.group_wait (queue_id, group_key, priority, came, job_id, run_at)
		select its_queue_id, n.name, its_priority, n.came, n.id, moment
		  from unnest(ids, cames, group_keys) as n(id, came, name)
		 where n.name is not null and n.came is not null;
	end if;
	if requests <> '{}' then
		insert into readpast.group_recheck (queue_id, group_key)
		select its_queue_id, r.name from unnest(requests) as r(name);
	end if;
end
$body$;
