-- start_limit: if a queue has no run_limit yet, add a row to the table `slot` for each
-- of its running jobs. The caller is about to give the queue a run_limit, and then this
-- table must list the running jobs. Jobs of claims that have not committed yet are not
-- added.
-- queue: the name of the queue.
-- Result: none. SQLSTATE 25001: the queue has no run_limit, and the transaction is above
-- READ COMMITTED.
-- Locks: if the queue has no run_limit, the advisory lock of lock_limit(), for which the
-- call waits. So the call also waits for claims that have read an earlier limit of the
-- queue. Then the queue's row. In the other order there could be a deadlock, because a
-- transaction that has claimed a job may hold the queue afterwards.

create function readpast.start_limit(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its record;
begin
	perform pg_advisory_xact_lock(readpast.limit_lock(), q.id)
	   from readpast.queue q
	  where q.name = start_limit.queue and q.run_limit = 0;
	select q.id, q.run_limit into its
	  from readpast.queue q
	 where q.name = start_limit.queue
	   for no key update;
	if its.run_limit = 0 then
		perform readpast.need_read_committed('the first limit of a queue');
		-- This lock is new only if another call has just ended the run_limit.
		perform pg_advisory_xact_lock(readpast.limit_lock(), its.id);
		delete from readpast.slot s where s.queue_id = its.id;
		insert into readpast.slot (queue_id, job_id)
		select its.id, r.id
		  from readpast.running_in(its.id, :most_limit) r
		 where r.id is not null
		    on conflict do nothing;
	end if;
end
$body$;
