-- admit_jobs: let waiting jobs of groups into the ready line, at the end of their
-- lanes, so that groups take turns. In a queue with a group limit each job gets a slot.
-- ids: the jobs, in the order in which they enter the line. The caller has locked their
-- rows.
-- waits: the place (ctid) of each job's row in group_wait.
-- Result: the new slots. Null if the queue has no group limit.
-- Locks: the jobs' rows of group_wait. A transaction that changes such a row has locked
-- the job first, so this call does not wait. If a worker waits, the call also locks a
-- row of `waiter`.

create function readpast.admit_jobs(ids bigint[], waits tid[])
returns readpast.group_slot[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	added  readpast.group_slot[];
	queues integer[];
begin
	perform pg_current_xact_id();
	-- If a job left its group before its row was locked, another job's row may be at
	-- this place now. So the condition on job_id is needed.
	with taken as (
		delete from readpast.group_wait w
		 using unnest(ids, waits) with ordinality as n(id, place, number)
		 where w.ctid = n.place and w.job_id = n.id
		returning w.*, n.number),
	limited as (
		select t.*, case when q.group_limit > 0 then q.group_epoch end as epoch
		  from taken t
		  join readpast.queue q on q.id = t.queue_id),
	slots as (
		insert into readpast.group_slot
		       (queue_id, group_key, job_id, priority, came)
		select t.queue_id, t.group_key, t.job_id, t.priority, t.came
		  from limited t
		 where t.epoch is not null
		returning group_slot.*),
	moved as (
		update readpast.job j
		   set seq = readpast.next_in_line(j.lane_id),
		       run_at = clock_timestamp(),
		       extra.slot_epoch = t.epoch,
		       extra.came = null
		  from (select t.job_id, t.epoch from limited t order by t.number) t
		 where j.id = t.job_id)
	select (select array_agg(s::readpast.group_slot) from slots s),
	       array(select distinct t.queue_id from taken t)
	  into added, queues;
	perform readpast.wake(q.id) from unnest(queues) as q(id);
	return added;
end
$body$;
