-- notify_job_waiters: notify the clients that wait for the end of one of these jobs.
-- Such a client then checks whether the job has ended, so a notification too many does
-- no harm. A transaction that has sent a notification cannot be prepared. Before
-- `prepare transaction` a program turns notifications off, see wake(). Then the client
-- finds the end of its job when it checks the next time.
-- ids: jobs that have ended, or that may have ended.
-- Locks: none.

create function readpast.notify_job_waiters(ids bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
begin
	if coalesce(current_setting('readpast.notify', true), '') <> 'off' then
		perform pg_notify('readpast.job.' || w.pid, '')
		   from (select distinct w.pid
		           from readpast.job_waiter w
		          where w.job_id = any (ids)) w;
	end if;
end
$body$;
