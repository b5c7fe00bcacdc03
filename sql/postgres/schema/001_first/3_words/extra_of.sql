-- extra_of: what only some jobs have, as `job` stores it.
-- Parameters: as of the type `extra`; each may be null.
-- Result: null if all are null.
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
