-- cancel: cancel a live job, or raise an error that says why this is not possible.
-- id: the job.
-- kind: if not null, only a job of this kind is cancelled.
-- Result: none. SQLSTATE RP001: the job is finished. SQLSTATE RP005: there is no such
-- job, or it is of another kind.
-- Locks: the job's row, and the rows that leave_group() locks. The call waits for a
-- transaction that settles the same job.

create function readpast.cancel(id bigint, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.cancel_live(id, kind, null);
	if not found then
		perform readpast.refuse(id, kind);
	end if;
end
$body$;
