-- await_jobs: register this session as waiting for the end of jobs. The client must do
-- four steps in this order: listen on the channel, call this routine, commit, and check
-- whether one of the jobs has ended already. If a job ends later, the client is
-- notified. There is one exception: a verdict that began before the client's commit may
-- send no notification. Because of this, the client checks the jobs a few more times,
-- see outcomes().
-- ids: the jobs.
-- Result: the channel.
-- Locks: rows of `queue`, for no key update. Rows that other transactions have locked
-- are skipped.

create function readpast.await_jobs(ids bigint[]) returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
declare
	til timestamptz := clock_timestamp() + readpast.job_waiter_age();
begin
	insert into readpast.job_waiter (job_id, pid, until)
	select distinct i.id, pg_backend_pid(), til
	  from unnest(ids) as i(id)
	    on conflict (job_id, pid) do update set until = excluded.until;
	update readpast.queue q
	   set job_waiters_until = til + readpast.waiters_margin()
	 where q.ctid = any (array(
	           select q.ctid
	             from readpast.queue q
	            where q.id in (select j.queue_id from readpast.job j
	                            where j.id = any (ids))
	              and (q.job_waiters_until is null or q.job_waiters_until < til)
	              for no key update skip locked));
	return 'readpast.job.' || pg_backend_pid();
end
$body$;
