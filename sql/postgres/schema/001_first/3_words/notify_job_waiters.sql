-- notify_job_waiters: notify the clients that wait for the end of one of these jobs. A
-- notified client checks whether its job has ended, so a needless notification does no
-- harm. The routine does nothing if the caller has turned notifications off, see
-- wake(). A program must turn notifications off if it uses `prepare transaction`, which
-- PostgreSQL refuses in a transaction that has sent a notification. If notifications
-- are off, a client learns of its job's end later, because it also checks the job from
-- time to time.
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
