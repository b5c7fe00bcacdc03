-- going_to_sleep: A worker that found nothing says that it sleeps, commits,
-- looks once more if that was news (`fresh`), and listens on the channel: the
-- next job in one of its queues wakes it, and takes it off the list. It says so
-- seconds ahead, and again only when half of that is over. rest: so long it may
-- sleep until it asks sweep_start() whether the database needs a sweep. All
-- that sleep ask some 20 times a second together, and each of them every 12 s
-- at least: whichever worker ends, another sweeps a second later.

create function readpast.going_to_sleep(
	worker_id bigint, queues text[], most interval default '30 seconds',
	out channel text, out until timestamptz, out fresh boolean,
	out rest interval)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	if worker_id is null or queues is null or most is null
	   or most not between interval '1 second' and interval '1 hour' then
		raise exception 'who sleeps says its worker_id, its queues, and for '
			'1 second..1 hour' using errcode = 'RP003';
	end if;
	channel := 'readpast.' || worker_id;
	select greatest(interval '700 milliseconds',
	                least(count(distinct s.worker_id) + 1, 200)
	                * interval '50 milliseconds' * (0.75 + random() / 2))
	  into rest
	  from (select s.worker_id from readpast.sleeper s
	         where s.until > moment
	         limit 1000) s;
	select min(least(coalesce(s.until, '-infinity'), q.asleep_until))
	  into until
	  from readpast.queue q
	  left join readpast.sleeper s
	    on s.queue_id = q.id and s.until > moment
	   and s.worker_id = going_to_sleep.worker_id
	 where q.name = any (queues);
	fresh := until is null or until <= moment + most / 2;
	if not fresh then
		return;
	end if;
	perform readpast.awake(worker_id, queues);
	until := moment + most;
	insert into readpast.sleeper (queue_id, until, worker_id)
	select q.id, going_to_sleep.until, going_to_sleep.worker_id
	  from readpast.queue q
	 where q.name = any (queues);
	update readpast.queue q
	   set asleep_until = going_to_sleep.until + interval '1 minute'
	 where q.ctid = any (array(
	           select q.ctid
	             from readpast.queue q
	            where q.name = any (queues)
	              and q.asleep_until < going_to_sleep.until
	              for no key update skip locked));
end
$body$;
