-- groups_of: list groups of a queue, ordered by the bytes of their names. A group is
-- listed if one of its jobs waits or has a slot (the right to run), or if the group is
-- held. The routine goes from name to name in the indexes, so its cost does not depend
-- on how many groups and jobs there are. Only if no job of the queue may start now,
-- only_blocked also reads the groups in which no job is ready.
-- queue: the name of the queue.
-- only_blocked: true to list only groups that have jobs which are counted as waiting.
-- after: list groups whose names come after this one. '' or null: from the first.
-- most_groups: the largest number of groups.
-- most: the count of waiting jobs of a group stops at this number.
-- Rows: one for each group.
--   ready, running: how many jobs with a slot are ready, and how many run. A job that
--     keeps its slot while it waits for a retry counts as neither. If no job of the queue
--     may start now, see is_full(), ready jobs are counted as waiting.
--   held_until: the end of the group's hold, or null.
--   waiting_at_least: true if more jobs wait than were counted.
-- Locks: none.

create function readpast.groups_of(queue text, only_blocked boolean, after text,
                                   most_groups bigint, most bigint)
returns table (name text, waiting bigint, ready bigint, running bigint,
               held_until timestamptz, waiting_at_least boolean)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_column
declare
	its integer := (select q.id from readpast.queue q where q.name = groups_of.queue);
	is_full boolean := readpast.is_full(its);
begin
	name := coalesce(after, '');
	for n in 1 .. most_groups loop
		name := readpast.next_group(its, name, only_blocked, is_full);
		exit when name is null;
		select least(count(*), most), count(*) > most into waiting, waiting_at_least
		  from (select 1 from readpast.group_wait w
		         where w.queue_id = its and w.group_key = groups_of.name
		         limit most + 1) w;
		select count(*) filter (where j.lease_until is null and j.seq is not null),
		       count(*) filter (where j.lease_until is not null)
		  into ready, running
		  from readpast.queue q
		  join readpast.group_slot s on s.queue_id = q.id
		  join readpast.job j on j.id = s.job_id
		 where q.id = its and q.group_limit > 0 and s.group_key = groups_of.name;
		if is_full then
			waiting_at_least := waiting_at_least or waiting + ready > most;
			waiting := least(waiting + ready, most);
			ready := 0;
		end if;
		held_until := (select h.until from readpast.group_hold h
		                where h.queue_id = its and h.group_key = groups_of.name
		                  and h.until > clock_timestamp());
		return next;
	end loop;
end
$body$;
