-- notify_job_waiters: notify the clients that wait for the end of one of these jobs. They
-- look whether it has ended, so it does no harm to notify them too often.
-- A transaction that has notified cannot be prepared, see wake(); then a client finds the
-- end of its job by a look of its own.
-- ids: jobs that have ended, or may have.
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
