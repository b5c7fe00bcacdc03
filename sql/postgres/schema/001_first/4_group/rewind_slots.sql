-- rewind_slots: let next_waiting() find waiting jobs that came before a job that has a
-- slot. Each job draws its number `came` before its commit. So a job with a larger
-- number may be committed first, and get a slot. At least one of the two enqueues did
-- not have the lock of the group, so it added a recheck request. When the request is
-- carried out, this routine sets `came` of the slot to less than the number of the
-- waiting job. When the slot is freed, next_waiting() starts its search at the `came`
-- of the slot, so it finds the waiting job. If the limit was lowered, the order of the
-- slots decides which jobs may run (see slots_over()), so they stay as they are, and
-- next_waiting() searches from the first job.
-- Another transaction may just be passing a slot on to a job that this one does not see
-- yet. It has deleted the old slot, so xmax of the slot's row is set. If it is still open,
-- its job is locked, and a recheck request is added.
-- queue_id, group_keys: the groups, which the caller has locked by lock_groups().
-- Result: none. If another transaction has locked the job of a slot that has to be
-- changed, a recheck request is added.
-- Locks: the slots that are changed, and before that the rows of their jobs, for update.
-- Rows that other transactions have locked are skipped.

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
		select s.place, s.job_id, g.name as group_key, w.came - 1 as came
		  from unnest(group_keys) as g(name)
		  join readpast.queue q on q.id = rewind_slots.queue_id and not q.group_lowered
		 cross join lateral (
		       -- The newest slots first, as in open_slots().
		       select s.ctid as place, s.job_id, s.priority, s.came,
		              s.xmax <> '0' as is_passed_on
		         from readpast.group_slot s
		        where s.queue_id = q.id and s.group_key = g.name
		        order by s.queue_id desc, s.group_key desc, s.job_id desc
		        limit nullif(q.group_limit, 0)) s
		  left join lateral (
		       select w.came
		         from readpast.group_wait w
		        where w.queue_id = q.id and w.group_key = g.name
		          and w.priority = s.priority and w.came < s.came
		        order by w.queue_id, w.group_key, w.priority, w.came
		        limit 1) w on true
		 where w.came is not null
		    or s.is_passed_on
		       and (select 1 from readpast.group_wait a
		             where a.queue_id = q.id and a.group_key = g.name
		             limit 1) = 1
	loop
		perform 1 from readpast.job j where j.id = late.job_id for update skip locked;
		if found and late.came is not null then
			update readpast.group_slot s
			   set came = late.came
			 where s.ctid = late.place and s.job_id = late.job_id;
		end if;
		if not found then
			insert into readpast.group_recheck (queue_id, group_key)
			values (rewind_slots.queue_id, late.group_key);
		end if;
	end loop;
end
$body$;
