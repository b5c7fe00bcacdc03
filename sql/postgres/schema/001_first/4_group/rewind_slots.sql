-- rewind_slots: let next_waiting() find waiting jobs that came before a job that has a
-- slot. Each job draws its number `came` before its commit. So a job with a larger
-- number may be committed first, and get a slot. At least one of the two enqueues did
-- not have the lock of the group, so it added a recheck request. When the request is
-- carried out, this routine sets `came` of the slot to less than the number of the
-- waiting job. When the slot is freed, next_waiting() starts its search at the `came`
-- of the slot, so it finds the waiting job.
-- queue_id, group_keys: the groups, which the caller has locked by lock_groups().
-- Result: none. If another transaction has locked a slot, a recheck request is added.
-- Locks: the slots that are changed. Rows that other transactions have locked are
-- skipped.

create function readpast.rewind_slots(queue_id integer, group_keys text[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	late record;
begin
	for late in
		select s.ctid as place, s.group_key, w.came
		  from unnest(group_keys) as g(name)
		  join readpast.group_slot s
		    on s.queue_id = rewind_slots.queue_id and s.group_key = g.name
		 cross join lateral (
		       select w.came
		         from readpast.group_wait w
		        where w.queue_id = s.queue_id and w.group_key = s.group_key
		          and w.priority = s.priority and w.came < s.came
		        order by w.queue_id, w.group_key, w.priority, w.came
		        limit 1) w
	loop
		update readpast.group_slot s
		   set came = late.came - 1
		 where s.ctid = (select l.ctid from readpast.group_slot l
		                  where l.ctid = late.place
		                    for update skip locked);
		if not found then
			insert into readpast.group_recheck (queue_id, group_key)
			values (rewind_slots.queue_id, late.group_key);
		end if;
	end loop;
end
$body$;
