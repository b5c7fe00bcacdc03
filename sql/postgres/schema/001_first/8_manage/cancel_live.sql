-- cancel_live: A live job, of this kind if it is not null, goes to the archive
-- at once. Its key is free; a holder learns it at its next extend or verdict.

create function readpast.cancel_live(id bigint, kind text)
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
	   for update;
	if found then
		perform readpast.put_away(id, 6, null);
	end if;
end
$body$;
