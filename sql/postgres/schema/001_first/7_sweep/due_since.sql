-- due_since: return a time up to which the sweep has moved all scheduled jobs of all
-- queues. No scheduled job with an earlier run_at than this time is left.
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
