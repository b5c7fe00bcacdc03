-- term_ends: when the time is over for which a job itself said that it is to be kept.
-- finished_at, keep_ms: of the job.
-- Result: that time. The function is immutable, because the sum of a time and
-- milliseconds is the same in every time zone.
-- Locks: none.

create function readpast.term_ends(finished_at timestamptz, keep_ms bigint)
returns timestamptz
language sql immutable
as $body$
select finished_at operator(pg_catalog.+) readpast.ms(keep_ms)
$body$;

-- Done jobs that are kept by their own term, by the end of that.
create index archive_keep
	on readpast.archive (readpast.term_ends(finished_at, keep_ms))
	where state = 4 and keep_ms is not null;
