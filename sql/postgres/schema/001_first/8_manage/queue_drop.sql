-- queue_drop: delete a queue, its schedules and its jobs, unless the queue is in use.
-- If an open transaction has put a job into the queue, the job appears only when that
-- transaction commits. A later sweep moves the job into a new queue of the same name,
-- see take_over().
-- queue: the name of the queue.
-- Rows: one, or none if there is no such queue.
--   id: the queue's id.
--   busy: true if the queue is in use, see is_worked_on(). In this case nothing was
--     deleted.
-- Locks: the queue's row, and the rows of its jobs and schedules. If another
-- transaction has locked one of these jobs, the call does not wait, and the queue
-- counts as in use.

create function readpast.queue_drop(queue text)
returns table (id integer, busy boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	select q.id into id
	  from readpast.queue q where q.name = queue_drop.queue;
	if not found then
		return;
	end if;
	busy := readpast.is_worked_on(id);
	if not busy then
		perform readpast.notify_job_waiters(array(
		            select w.job_id
		              from readpast.job_waiter w
		             where (select j.queue_id
		                      from readpast.job j
		                     where j.id = w.job_id) = queue_drop.id));
		-- A job that was added and claimed since the check above is not deleted.
		-- A sweep moves it into a new queue of the same name, see take_over().
		delete from readpast.job j
		 where j.id = any (array(
		           select l.id
		             from readpast.left_in(queue_drop.id) l
		            where l.live))
		   and j.queue_id = queue_drop.id and j.lease_until is null;
		delete from readpast.archive a where a.queue_id = queue_drop.id;
		perform readpast.forget_hints(id);
		insert into readpast.dropped (queue_id, name) values (id, queue);
		delete from readpast.schedule s where s.queue = queue_drop.queue;
		delete from readpast.queue q where q.id = queue_drop.id;
	end if;
	return next;
end
$body$;
