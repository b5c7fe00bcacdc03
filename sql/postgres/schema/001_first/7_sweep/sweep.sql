-- sweep: the maintenance: leases that ran out end, what is due comes into line,
-- retention. It skips what others have locked, and writes nothing where there is nothing
-- to do. Workers of libreadpast sweep all the time; a program that only claims calls this
-- about once a second.

create function readpast.sweep(most integer default 20000,
	out due bigint, out recovered bigint, out dead bigint,
	out dropped bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	drops integer[] := readpast.drops_to_note();
begin
	if most is null or most < 1 then
		raise exception 'a sweep of less than one job' using errcode = 'RP003';
	end if;
	select count(*) filter (where not e.dead), count(*) filter (where e.dead)
	  into recovered, dead
	  from readpast.sweep_expired(most) e;
	select count(*) into due from readpast.sweep_due(most);
	select count(*) into dropped from readpast.sweep_kept(most);
	perform readpast.sweep_rest();
	perform readpast.note_drops(drops);
end
$body$;
