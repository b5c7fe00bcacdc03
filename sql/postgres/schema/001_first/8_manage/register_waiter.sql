-- register_waiter: register a worker that found no job as a waiter. The worker then
-- commits, probes once more if it was not registered before (`fresh`), and listens on
-- the channel. The next job in one of its queues notifies it and deletes its row. A
-- registration lasts for seconds, and is renewed only when half of it is over.
-- worker_id: the worker; queues: those for whose jobs it waits; most: how long it
-- may wait.
-- Result: channel: to listen on. until: the end of the registration. fresh: it was
-- written by this call. If none of the queues exists, nothing is written: until is null,
-- and fresh is false. rest: how long the worker may wait before it asks sweep_start()
-- whether the database needs a sweep. All waiters together ask about 20 times a second,
-- and each of them at least every 12 s; so whichever worker ends, another one sweeps a
-- second later. RP003: an argument is wrong.
-- Locks: its rows of `waiter`, and rows of `queue` for no key update; it skips
-- those that others have locked. While a row of `queue` is locked, enqueues may not find
-- the waiter; `fresh` is true once more when a later call has updated that row.

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
		raise exception 'who sleeps says its worker_id, its queues, and for '
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
