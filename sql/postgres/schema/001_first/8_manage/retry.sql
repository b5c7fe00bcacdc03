-- retry: make a dead or cancelled job ready again, or raise an error that says why this
-- is not possible.
-- id: the job.
-- kind: if not null, only a job of this kind is retried.
-- Result: none. SQLSTATE RP001: the job is in another state. SQLSTATE RP005: there is
-- no such job, or it is of another kind. SQLSTATE RP006: a live job has the same unique
-- key.
-- Locks: the job's row in the archive, and the rows that block_barred() and wake() lock.
-- The call waits for an open transaction that inserts the same unique key.

create function readpast.retry(id bigint, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select r.taken into it from readpast.retry_kept(id, kind) r;
	if not found then
		perform readpast.refuse(id, kind);
	elsif it.taken then
		raise exception 'job % was not retried: a live job has its unique key', id
			using errcode = 'RP006';
	end if;
end
$body$;
