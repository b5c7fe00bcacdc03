-- due_since: return a time such that no scheduled job of any queue has an earlier
-- run_at. Sweeps record this time after they have made all jobs ready that were due
-- before it. A search for scheduled jobs starts at this time.
-- Result: the time, or -infinity if it is not known.
-- Locks: none.

create function readpast.due_since() returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return coalesce(readpast.at_us(nullif(readpast.newest_head(0), 0)),
	                '-infinity');
end
$body$;
