-- wake: Wake one worker that sleeps and serves the queue, but not this one. It
-- comes off the list, so that the next job wakes another; if that cannot be
-- without waiting for somebody, it is woken all the same. A transaction that
-- notified somebody cannot be prepared: one that is to be says `set local
-- readpast.notify = off`, and the sweep of the next second wakes a worker.

create function readpast.wake(queue_id integer, besides bigint default 0)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment  timestamptz := clock_timestamp();
	sleeper bigint;
begin
	if not exists (select 1 from readpast.sleeper s
	                where s.queue_id = wake.queue_id and s.until > moment)
	   or current_setting('readpast.notify', true) = 'off' then
		return;
	end if;
	if current_setting('transaction_isolation') = 'read committed' then
		delete from readpast.sleeper s
		 where s.ctid = (select s.ctid
		                   from readpast.sleeper s
		                  where s.queue_id = wake.queue_id
		                    and s.until > moment and s.worker_id <> besides
		                  order by s.until desc
		                  limit 1
		                    for update skip locked)
		returning s.worker_id into sleeper;
	end if;
	if sleeper is null then
		select s.worker_id into sleeper
		  from readpast.sleeper s
		 where s.queue_id = wake.queue_id and s.until > moment
		   and s.worker_id <> besides
		 order by s.until desc
		 limit 1;
	end if;
	if sleeper is not null then
		perform pg_notify('readpast.' || sleeper, '');
	end if;
end
$body$;
