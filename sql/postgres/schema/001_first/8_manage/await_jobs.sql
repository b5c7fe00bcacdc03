-- await_jobs: register this session to be notified when one of the jobs ends. The
-- client must do four steps in this order: listen on the channel, call this routine,
-- commit, and check whether a job has already ended. A verdict that began before the
-- commit does not see the registration, and does not notify the client. So the client
-- must check the jobs again from time to time, see outcomes().
-- ids: the jobs.
-- Result: the channel, SCHEMA.job.PID, where PID is the session's process id.
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
