-- queue_drop: remove a queue, its schedules and its jobs, unless it is in use. Jobs of
-- transactions that have not committed yet are moved into a new queue later, see
-- take_over().
-- queue: its name.
-- Result: a row, or none if there is no such queue. busy: a job runs, or an
-- open transaction has one locked; nothing was done.
-- Locks: the queue's row, those of its jobs and schedules. It does not wait for locks.

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
		              join readpast.job j on j.id = w.job_id
		             where j.queue_id = queue_drop.id));
		-- Since the check, another transaction may have added a job, and a
		-- worker may have claimed it.
		delete from readpast.job j
		 where j.queue_id = queue_drop.id and j.lease_until is null;
		delete from readpast.archive a where a.queue_id = queue_drop.id;
		perform readpast.forget_hints(id);
		insert into readpast.dropped (queue_id, name) values (id, queue);
		delete from readpast.schedule s where s.queue = queue_drop.queue;
		delete from readpast.queue q where q.id = queue_drop.id;
	end if;
	return next;
end
$body$;
