-- extra_of: make a value of the type `extra`, which has the rarely used fields of a
-- job.
-- Parameters: the fields of the type. Each may be null.
-- Result: the value. Null if all parameters are null.
-- Locks: none.

create function readpast.extra_of(
	keep_ms bigint, timeout_ms bigint, expire_at timestamptz, backoff json,
	unique_for_ms bigint, progress text default null)
returns readpast.extra
language sql immutable as $body$
select case when pg_catalog.num_nonnulls(keep_ms, timeout_ms, expire_at, backoff,
                                         unique_for_ms, progress)
                 operator(pg_catalog.>) 0
            then row(keep_ms, timeout_ms, expire_at, backoff, unique_for_ms,
                     progress)::readpast.extra end
$body$;
