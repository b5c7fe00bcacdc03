-- cancel_live: move a live job to the archive at once. Its unique key is free. A
-- holder learns of it at its next extend or verdict.
-- id: the job; kind, state: if not null, only a job of this kind, in the state of this
-- number.
-- Result: the id, or no row if there is no such live job.
-- Locks: the job's row. It waits for a transaction that settles the same job.

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
	        or cancel_live.state
	           = case when j.lease_until is not null then 3
	                  when j.seq is not null or j.run_at <= clock_timestamp()
	                  then 2 else 1 end)
	   for update;
	if found then
		perform readpast.put_away(id, 6, null);
		perform readpast.notify_job_waiters(array[id]);
	end if;
end
$body$;
