-- forget_old: delete old rows, and add up old tallies. The deleted rows are those of
-- workers that were not seen for an hour, of waiters that died, of clients that stopped
-- waiting for a job, and of unique keys that are free again. A row of `expiry`, which
-- says when some jobs expire, is deleted when this time has passed and none of the
-- expired jobs is left. Of the visited cursors of each lane, only the newest is kept.
-- (Usually a lane has only one visited cursor, but two sweeps that run at the same time
-- can leave several.) The routine also sets job_waiters_until of a queue to null if it
-- is in the past.
-- Locks: the rows that the routine deletes. Rows that other transactions have locked
-- are skipped.

create function readpast.forget_old() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	delete from readpast.worker w
	 where w.ctid = any (array(
	           select w.ctid from readpast.worker w
	            where w.seen_at < moment - readpast.worker_age()
	              for update skip locked));
	perform readpast.sum_tallies();
	delete from readpast.waiter w
	 where w.ctid = any (array(
	           select w.ctid from readpast.waiter w
	            where w.until < moment - readpast.waiter_age()
	              for update skip locked));
	delete from readpast.taken_key k
	 where k.ctid = any (array(
	           select k.ctid from readpast.taken_key k
	            where k.until <= moment
	              for update skip locked));
	delete from readpast.expiry x
	 where x.ctid = any (array(
	           select e.ctid from readpast.expiry e
	            where e.expire_at <= moment
	              and not exists (select 1 from readpast.job j
	                               where j.id between e.first_id and e.last_id
	                                 and (j.extra).expire_at <= moment)
	              for update skip locked));
	delete from readpast.job_waiter w
	 where w.ctid = any (array(
	           select w.ctid from readpast.job_waiter w
	            where w.until < moment
	              for update skip locked));
	update readpast.queue q
	   set job_waiters_until = null
	 where q.ctid = any (array(
	           select q.ctid from readpast.queue q
	            where q.job_waiters_until < moment
	              for no key update skip locked));
	delete from readpast.cursor c
	 where c.ctid = any (array(
	           select c.ctid from readpast.cursor c
	            where c.low > c.head
	              and exists (select 1
	                            from readpast.cursor n
	                           where n.lane_id = c.lane_id
	                             and n.head > c.head and n.low > n.head)
	              for update skip locked));
end
$body$;
