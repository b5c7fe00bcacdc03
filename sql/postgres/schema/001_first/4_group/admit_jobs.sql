-- admit_jobs: let waiting jobs of groups into the ready line, at the end of their
-- lanes, so that groups take turns. In a queue with a group limit each job gets a slot.
-- ids: the jobs, in the order in which they enter the line. The caller has locked their
-- rows.
-- Result: the new slots. Null if the queue has no group limit.
-- Locks: the jobs' rows of group_wait. A transaction that changes such a row has locked
-- the job first, so this call does not wait. If a worker waits, the call also locks a
-- row of `waiter`.

create function readpast.admit_jobs(ids bigint[]) returns readpast.group_slot[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	added readpast.group_slot[];
begin
	perform pg_current_xact_id();
	with taken as (
		delete from readpast.group_wait w
		 using readpast.job j
		 where j.id = any (ids) and w.queue_id = j.queue_id
		   and w.group_key = (j.extra).group_key
		   and w.priority = readpast.priority_of(j.lane_id)
		   and w.came = (j.extra).came and w.job_id = j.id
		returning w.*),
	slots as (
		insert into readpast.group_slot
		       (queue_id, group_key, job_id, priority, came)
		select t.queue_id, t.group_key, t.job_id, t.priority, t.came
		  from taken t
		  join readpast.queue q on q.id = t.queue_id and q.group_limit > 0
		returning group_slot.*),
	moved as (
		update readpast.job j
		   set seq = readpast.next_in_line(j.lane_id),
		       run_at = clock_timestamp(),
		       extra.slot_epoch = t.epoch,
		       extra.came = null
		  from (select t.job_id,
		               case when q.group_limit > 0 then q.group_epoch end as epoch
		          from taken t
		          join readpast.queue q on q.id = t.queue_id
		         order by array_position(ids, t.job_id)) t
		 where j.id = t.job_id)
	select array_agg(s::readpast.group_slot) into added from slots s;
	perform readpast.wake(q.queue_id)
	   from (select distinct j.queue_id from readpast.job j
	          where j.id = any (ids)) q;
	return added;
end
$body$;
