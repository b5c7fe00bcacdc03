-- needs_sweep: tell whether a new sweep is needed. Each sweep adds a tick (a row of the
-- table `tick`). So a sweep is needed if the newest tick is older than sweep_every().
-- Each worker calls this routine once a second. So if the worker that has been sweeping
-- exits, another worker makes the next sweep less than two seconds after the last
-- sweep.
-- Result: true if a sweep is needed. Always false on a standby, where a sweep is not
-- possible.
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
