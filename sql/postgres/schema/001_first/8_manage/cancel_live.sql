-- cancel_live: cancel a live job. The job moves to the archive, and its unique key
-- becomes free. If a worker is running the job, the worker's next verdict on the job is
-- refused.
-- id: the job.
-- kind: if not null, only a job of this kind is cancelled.
-- state: if not null, only a job in this state is cancelled. 1: scheduled. 2 or 7:
-- ready or blocked, which count as one state. 3: running.
-- Rows: the id, or no row if there is no such live job.
-- Locks: the job's row, and the rows that leave_group() locks. The call waits for a
-- transaction that settles the same job.

create function readpast.cancel_live(id bigint, kind text, state bigint)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return query
	select j.id
	  from readpast.job j
	 where j.id = cancel_live.id
	   and (cancel_live.kind is null or j.kind = cancel_live.kind)
	   and (cancel_live.state is null
	        or case cancel_live.state when 7 then 2 else cancel_live.state end
	           = case when j.lease_until is not null then 3
	                  when readpast.is_waiting(j.seq, j.run_at) then 2 else 1 end)
	   for update;
	if found then
		perform readpast.put_away(id, 6, null);
		perform readpast.notify_job_waiters(array[id]);
	end if;
end
$body$;
