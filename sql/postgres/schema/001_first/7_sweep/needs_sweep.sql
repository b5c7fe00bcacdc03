-- needs_sweep: is the newest tick sweep_every() old, so that a sweep is needed? Workers ask
-- once a second, at different times. So when the worker that sweeps ends, another one
-- sweeps less than two seconds after the last sweep.
-- Result: true if so; false on a standby, which is not swept.
-- Locks: none.

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
		  from (select t.read_at from readpast.tick t
		         where t.next_xid < pg_snapshot_xmax(pg_current_snapshot())
		         order by t.next_xid desc
		         limit 1) t
		 where t.read_at between moment - readpast.sweep_every() and moment);
end
$body$;
