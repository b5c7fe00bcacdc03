-- put_dead: put a copy of a dead job into another queue, which has handlers for dead
-- jobs. The queue is created if it does not exist. The copy is inserted even if its
-- payload is larger than the queue's limit, so that no dead job is lost.
-- job_id: the dead job, which is in the archive.
-- dead_to: the name of the other queue.
-- Locks: a row of `waiter`, if a worker waits. Above READ COMMITTED the call also locks
-- the queue's row, see keep_queue(). The call waits for an open transaction that
-- creates the same queue.

create function readpast.put_dead(job_id bigint, dead_to text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := readpast.take_xid();
	its    record;
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.keep_queue(dead_to);
	end if;
	loop
		select * into its from readpast.find_queue(dead_to, null, 0);
		exit when found;
		perform readpast.queue_create(dead_to);
	end loop;
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload)
	select its.lane_id, readpast.next_in_line(its.lane_id), moment, moment,
	       its.id, its.max_attempts, a.kind,
	       readpast.dead_headers(a.headers, a.id, q.name, a.last_error),
	       a.payload
	  from readpast.archive a
	  join readpast.queue q on q.id = a.queue_id
	 where a.id = job_id;
	if its.waiters_until > moment then
		perform readpast.wake(its.id);
	end if;
end
$body$;
