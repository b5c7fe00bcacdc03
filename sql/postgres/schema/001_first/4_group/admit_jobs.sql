-- admit_jobs: let waiting jobs of groups into the ready line, at the end of their
-- lanes, so that groups take turns. If a job left its group before the caller locked it,
-- its row of group_wait is gone, and the job is left out.
-- ids: the jobs, in the order in which they enter the line. The caller has locked their
-- rows.
-- places: the place (ctid) of each job's row in group_wait.
-- epochs: the group_epoch of each job's queue, read together with the limit that allows
-- the job to enter the line. Null: the queue has no group limit, so the job gets no slot.
-- Result:
--   taken: the jobs that were admitted, or null.
--   added: their slots, or null.
-- Locks: the jobs' rows of group_wait. A transaction that changes such a row has locked
-- the job first, so this call does not wait. If a worker waits, the call also locks a
-- row of `waiter`.

create function readpast.admit_jobs(ids bigint[], places tid[], epochs bigint[],
                                    out taken bigint[],
                                    out added readpast.group_slot[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
declare
	queues integer[];
begin
	perform pg_current_xact_id(); -- see take_xid()
	with gone as (
		delete from readpast.group_wait w
		 using unnest(ids, places, epochs) with ordinality as n(id, place, epoch, number)
		 where w.ctid = n.place and w.job_id = n.id
		returning w.*, n.epoch, n.number),
	slots as (
		insert into readpast.group_slot
		       (queue_id, group_key, job_id, priority, came)
		select g.queue_id, g.group_key, g.job_id, g.priority, g.came
		  from gone g
		 where g.epoch is not null
		returning group_slot.*),
	moved as (
		update readpast.job j
		   set seq = readpast.next_in_line(j.lane_id),
		       run_at = clock_timestamp(),
		       slot_epoch = g.epoch,
		       came = null
		  from (select g.job_id, g.epoch from gone g order by g.number) g
		 where j.id = g.job_id)
	select array_agg(g.job_id), array_agg(distinct g.queue_id),
	       (select array_agg(s::readpast.group_slot) from slots s)
	  into taken, queues, added
	  from gone g;
	perform readpast.wake(q.id) from unnest(queues) as q(id);
end
$body$;
