-- register_waiter: register a worker that has found no job, so that an enqueue into one
-- of its queues notifies it. A registered worker is a waiter. Each enqueue into a queue
-- notifies one of the queue's waiters, and deletes the registration of that waiter for
-- the queue. After this call the worker commits and listens on the channel. If `fresh`
-- is true, the worker then probes its queues once more, because a job may have been
-- enqueued before the worker listened. A registration ends after the time `most`. A
-- repeated call renews the registration only if half of that time is over.
-- worker_id: the worker. A client that is not a worker passes minus the process id of
-- its session.
-- queues: the queues for whose jobs the worker waits.
-- most: how long the worker may wait.
-- Result:
--   channel: the channel on which to listen.
--   until: the end of the registration. Null if none of the queues exists. In this case
--     nothing was written.
--   fresh: true if this call has written a registration that enqueues can find.
--   rest: how long the worker may wait before it calls sweep_start(), which begins a
--     sweep if one is needed. The more waiters there are, the longer each may wait, but
--     at most 12.5 s, so that all of them together make about 20 calls a second. If the
--     worker that has been sweeping exits, one of these calls begins the next sweep.
-- SQLSTATE RP003: an argument is wrong.
-- Locks: the worker's rows of `waiter`, and rows of `queue` for no key update. Rows
-- that other transactions have locked are skipped. If the row of a queue was skipped,
-- enqueues into this queue may not find the waiter. A later call updates that row and
-- returns `fresh` as true again.

create function readpast.register_waiter(
	worker_id bigint, queues text[], most interval default '30 seconds',
	out channel text, out until timestamptz, out fresh boolean,
	out rest interval)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	moment timestamptz := clock_timestamp();
	noted  timestamptz;
begin
	if worker_id is null or queues is null or most is null
	   or most not between interval '1 second' and interval '1 hour' then
		raise exception 'a waiter needs a worker_id, queues and a time within '
			'1 second..1 hour' using errcode = 'RP003';
	end if;
	channel := 'readpast.' || worker_id;
	select greatest(readpast.sweep_every(),
	                least(count(distinct s.worker_id) + 1,
	                      readpast.most_askers())
	                * readpast.ask_every() * (0.75 + random() / 2))
	  into rest
	  from (select s.worker_id from readpast.waiter s
	         where s.until > moment
	         limit readpast.most_waiter_rows()) s;
	select min(coalesce(s.until, '-infinity')), min(q.waiters_until)
	  into until, noted
	  from readpast.queue q
	  left join readpast.waiter s
	    on s.queue_id = q.id and s.until > moment
	   and s.worker_id = register_waiter.worker_id
	 where q.name = any (queues);
	fresh := until <= moment + most / 2;
	if fresh is null then -- none of the queues exists
		fresh := false;
		return;
	elsif fresh then
		perform readpast.unregister_waiter(worker_id, queues);
		until := moment + most;
		insert into readpast.waiter (queue_id, until, worker_id)
		select q.id, register_waiter.until, register_waiter.worker_id
		  from readpast.queue q
		 where q.name = any (queues);
	end if;
	if noted < until then
		update readpast.queue q
		   set waiters_until = register_waiter.until + readpast.waiters_margin()
		 where q.ctid = any (array(
		           select q.ctid
		             from readpast.queue q
		            where q.name = any (queues)
		              and q.waiters_until < register_waiter.until
		              for no key update skip locked));
		fresh := fresh or found;
	end if;
end
$body$;
