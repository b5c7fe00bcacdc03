-- refuse: raise an error that says why a job cannot be cancelled or retried.
-- id: the job.
-- kind: the kind that the caller named, or null.
-- Result: none. SQLSTATE RP001: the job's state does not allow the change. SQLSTATE
-- RP005: there is no such job, or it is of another kind.
-- Locks: none.

create function readpast.refuse(id bigint, kind text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	select j.state, j.kind into it from readpast.jobs j where j.id = refuse.id;
	if not found then
		raise exception 'no job has the id %', id using errcode = 'RP005';
	elsif kind is not null then
		raise exception 'job % is %, of kind %', id, it.state,
			coalesce(it.kind, '(none)') using errcode = 'RP005';
	end if;
	raise exception 'job % is %', id, it.state using errcode = 'RP001';
end
$body$;
