-- cancel: cancel a live job (of this kind, if one is given), or raise why not.

create function readpast.cancel(id bigint, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.cancel_live(id, kind);
	if not found then
		perform readpast.refuse(id, kind);
	end if;
end
$body$;
