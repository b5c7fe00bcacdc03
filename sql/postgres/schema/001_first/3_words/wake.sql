-- wake: notify one of the waiters of a queue (workers that wait for a notification).
-- Also delete that worker's row of `waiter`, so that the next job notifies another
-- worker. If other transactions have locked the rows of all waiters, or if this
-- transaction is above READ COMMITTED, wake() notifies one waiter without deleting its
-- row.
-- A transaction that has sent a notification cannot run `prepare transaction`. So a
-- program that uses `prepare transaction` runs `set local readpast.notify = off` first.
-- In such a transaction wake() does nothing, and the next sweep notifies a worker.
-- queue_id: the queue.
-- besides: a worker that must not be notified, or 0.
-- Locks: the row of `waiter` that the routine deletes. Rows that other transactions
-- have locked are skipped.

create function readpast.wake(queue_id integer, besides bigint default 0)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	named  bigint;
begin
	if not exists (select 1 from readpast.waiter s
	                where s.queue_id = wake.queue_id and s.until > moment)
	   or current_setting('readpast.notify', true) = 'off' then
		return;
	end if;
	if current_setting('transaction_isolation') = 'read committed' then
		delete from readpast.waiter s
		 where s.ctid = (select s.ctid
		                   from readpast.waiter s
		                  where s.queue_id = wake.queue_id
		                    and s.until > moment and s.worker_id <> besides
		                  order by s.until desc
		                  limit 1
		                    for update skip locked)
		returning s.worker_id into named;
	end if;
	if named is null then
		select s.worker_id into named
		  from readpast.waiter s
		 where s.queue_id = wake.queue_id and s.until > moment
		   and s.worker_id <> besides
		 order by s.until desc
		 limit 1;
	end if;
	if named is not null then
		perform pg_notify('readpast.' || named, '');
	end if;
end
$body$;
