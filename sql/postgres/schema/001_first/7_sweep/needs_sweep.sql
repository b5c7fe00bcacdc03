-- needs_sweep: Did no worker begin a sweep lately? They look once a second,
-- each at a time of its own: so when one ends, another sweeps less than two
-- seconds after its last sweep. Nobody sweeps a standby.

create function readpast.needs_sweep() returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	if pg_is_in_recovery() then
		return false;
	end if;
	return not exists (
		select 1
		  from (select s.at from readpast.swept s
		         order by s.at desc
		         limit 1) s
		 where s.at between moment - interval '700 milliseconds' and moment);
end
$body$;
