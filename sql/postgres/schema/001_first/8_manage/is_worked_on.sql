-- is_worked_on: is a queue in use, so that it must not be dropped? A queue is in use
-- while one of its jobs is running, or while another transaction has locked the queue
-- or one of its jobs. For example, an enqueue locks the queue if its transaction has a
-- higher isolation level than READ COMMITTED.
-- queue_id: the queue.
-- Result: true if the queue is in use.
-- Locks: the queue's row and the rows of all its jobs, so that the result stays correct
-- until the transaction ends. The call does not wait for locks.

create function readpast.is_worked_on(queue_id integer) returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	is_running boolean;
begin
	perform 1
	   from readpast.queue q
	  where q.id = is_worked_on.queue_id
	    for update nowait;
	select coalesce(bool_or(l.lease_until is not null), false) into is_running
	  from (select j.lease_until
	          from readpast.job j
	         where j.id = any (array(
	                   select l.id
	                     from readpast.left_in(is_worked_on.queue_id) l
	                    where l.live))
	           and j.queue_id = is_worked_on.queue_id
	           for update nowait) l;
	perform 1
	   from readpast.archive a
	  where a.queue_id = is_worked_on.queue_id
	    for update nowait;
	return is_running;
exception when lock_not_available then
	return true;
end
$body$;
