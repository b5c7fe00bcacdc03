-- block_jobs: take jobs of groups out of the ready line, because they may not run now.
-- Each job then waits for its group, and keeps its place in the order of the group. If
-- the job had a slot, it loses the slot. For each group the routine adds a recheck
-- request.
-- ids: the jobs, which are ready and have a group. The caller has locked them.
-- Result: none.
-- Locks: the rows of group_slot that the routine deletes. A transaction that changes
-- such a row has locked the job before, so this call does not wait.

create function readpast.block_jobs(ids bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	perform pg_current_xact_id(); -- see take_xid()
	with waits as (
		insert into readpast.group_wait
		       (queue_id, group_key, priority, came, job_id, run_at)
		select j.queue_id, j.group_key, readpast.priority_of(j.lane_id),
		       coalesce(s.came, readpast.came_in_line(j.lane_id, j.seq)), j.id, j.run_at
		  from readpast.job j
		  left join readpast.group_slot s
		    on s.queue_id = j.queue_id and s.group_key = j.group_key
		   and s.job_id = j.id
		 where j.id = any (ids)
		returning group_wait.job_id, group_wait.came)
	update readpast.job j
	   set seq = null,
	       run_at = 'infinity',
	       slot_epoch = null,
	       came = w.came,
	       lane_id = case when readpast.class_of(j.lane_id) = 0
	                      then readpast.with_class(j.lane_id, 2)
	                      else j.lane_id end
	  from waits w
	 where j.id = w.job_id;
	delete from readpast.group_slot s
	 using readpast.job j
	 where j.id = any (ids) and s.queue_id = j.queue_id
	   and s.group_key = j.group_key and s.job_id = j.id;
	insert into readpast.group_recheck (queue_id, group_key)
	select distinct j.queue_id, j.group_key
	  from readpast.job j
	 where j.id = any (ids);
	perform readpast.open_lane(l.lane_id)
	   from (select distinct j.lane_id from readpast.job j
	          where j.id = any (ids)) l;
end
$body$;
