-- due_since: return a time up to which the sweep has moved all scheduled jobs of all
-- queues. So no scheduled job has a run_at before this time.
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
