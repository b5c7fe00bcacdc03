-- term_ends: return the time until which a done job is kept, if the job has a keep_ms
-- of its own.
-- finished_at, keep_ms: the columns of the job.
-- Result: finished_at plus keep_ms. The function may be immutable, because the sum of
-- a time and milliseconds is the same in every time zone.
-- Locks: none.

create function readpast.term_ends(finished_at timestamptz, keep_ms bigint)
returns timestamptz
language sql immutable
as $body$
select finished_at operator(pg_catalog.+) readpast.ms(keep_ms)
$body$;

-- sweep_kept() uses this index to find the done jobs that have a keep_ms of their own
-- and have been kept for that time.
create index archive_keep
	on readpast.archive (readpast.term_ends(finished_at, (extra).keep_ms))
	where state = 4 and (extra).keep_ms is not null;
