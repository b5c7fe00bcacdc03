-- keep_place: a job was blocked after its lease was over, and now its worker reports a
-- failure with a delay, or releases it with one. The job no longer waits for its group,
-- and gets a slot if one is not used. So the group waits for the job's next attempt, as
-- if the report had come in time. The job gets no slot in a transaction that may stay
-- open, because such a transaction must not lock a group.
-- id: the job, which the caller has locked. The caller then makes it a scheduled job.
-- joined: see stays_open().
-- Result: none.
-- Locks: the job's row of group_wait, and the locks of lock_groups().

create function readpast.keep_place(id bigint, joined boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	it    record;
	epoch bigint; -- null: the job has no slot
begin
	delete from readpast.group_wait w
	 using readpast.job j
	 where j.id = keep_place.id and w.queue_id = j.queue_id
	   and w.group_key = j.group_key
	   and w.priority = readpast.priority_of(j.lane_id)
	   and w.came = j.came and w.job_id = j.id
	returning w.* into it;
	if not readpast.stays_open(joined)
	   and current_setting('transaction_isolation') = 'read committed'
	   and readpast.lock_groups(it.queue_id, array[it.group_key]) <> '{}'
	then
		with slot as (
			insert into readpast.group_slot (queue_id, group_key, job_id, priority, came)
			select it.queue_id, it.group_key, it.job_id, it.priority, it.came
			  from readpast.queue q
			 cross join lateral readpast.open_slots(q.id, it.group_key, q.group_limit) o
			 where q.id = it.queue_id and q.group_limit > 0 and o.n > 0
			returning group_slot.queue_id)
		select q.group_epoch into epoch
		  from slot s
		  join readpast.queue q on q.id = s.queue_id;
	end if;
	update readpast.job j
	   set came = null,
	       slot_epoch = epoch
	 where j.id = keep_place.id;
end
$body$;
