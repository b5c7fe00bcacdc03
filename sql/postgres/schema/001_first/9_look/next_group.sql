-- next_group: return the name of the next group of a queue, for groups_of().
-- queue_id: the queue.
-- after: the name of the group that the caller has listed last.
-- only_blocked: true to skip groups without blocked jobs.
-- is_full: true if no job of the queue may start now, so that ready jobs are blocked.
-- Result: the name, or null if there is none.
-- Locks: none.

create function readpast.next_group(queue_id integer, after text,
                                    only_blocked boolean, is_full boolean)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $body$
declare
	waits text := (select w.group_key from readpast.group_wait w
	                where w.queue_id = next_group.queue_id and w.group_key > after
	                order by w.queue_id, w.group_key limit 1);
	slot  text;
	held  text;
begin
	if only_blocked and is_full then
		slot := (select s.group_key
		           from readpast.group_slot s
		           join readpast.job j on j.id = s.job_id
		          where s.queue_id = next_group.queue_id and s.group_key > after
		            and j.lease_until is null and j.seq is not null
		          order by s.queue_id, s.group_key limit 1);
	end if;
	if only_blocked then
		return least(waits collate "C", slot);
	end if;
	-- If the limit was removed, slots may be left, which do not count.
	slot := (select s.group_key from readpast.group_slot s
	          where s.queue_id = next_group.queue_id and s.group_key > after
	            and (select q.group_limit from readpast.queue q
	                  where q.id = next_group.queue_id) > 0
	          order by s.queue_id, s.group_key limit 1);
	held := (select h.group_key from readpast.group_hold h
	          where h.queue_id = next_group.queue_id and h.group_key > after
	            and h.until > clock_timestamp()
	          order by h.queue_id, h.group_key limit 1);
	return least(waits collate "C", slot, held);
end
$body$;
