-- refuse: Why a job could not be cancelled or retried.

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
