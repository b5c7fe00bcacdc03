-- notify_waiters: for each queue that has a ready job, notify one waiter, a worker that
-- waits for jobs of this queue. An enqueue does this, too, but its notification may
-- reach no worker in two cases: the worker registered while the transaction of the
-- enqueue was open, or the notified worker has died. Queues are examined in random
-- order for a limited time, so many idle queues do not make a sweep slow. At least one
-- queue is examined, however slow the server is.
-- Locks: a row of `waiter` for each queue. Rows that other transactions have locked are
-- skipped.

create function readpast.notify_waiters() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment   timestamptz := clock_timestamp();
	queue_id integer;
	lane_id  bigint;
begin
	for queue_id in
		select q.id
		  from readpast.queue q
		 where q.paused_at is null
		   and q.id in (select s.queue_id from readpast.waiter s
		                 where s.until > moment)
		 order by random()
	loop
		foreach lane_id in array readpast.lanes_of(queue_id) loop
			if readpast.count_ready(lane_id, readpast.claims_start(lane_id), 1) > 0
			then
				perform readpast.wake(queue_id);
				exit;
			end if;
		end loop;
		exit when clock_timestamp() > moment + readpast.rouse_budget();
	end loop;
end
$body$;
