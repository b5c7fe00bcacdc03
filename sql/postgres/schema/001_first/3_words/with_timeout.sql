-- with_timeout: put the queue's time-out into a job's `extra` (the column for rarely
-- used fields), unless the job has a time-out of its own.
-- extra: the job's value, or null.
-- timeout_ms: the queue's time-out.
-- Result: the value that a worker gets.
-- Locks: none.

create function readpast.with_timeout(extra readpast.extra, timeout_ms bigint)
returns readpast.extra
language sql immutable as $body$
select readpast.extra_of((extra).keep_ms,
                         coalesce((extra).timeout_ms, with_timeout.timeout_ms),
                         (extra).expire_at, (extra).backoff,
                         (extra).unique_for_ms, (extra).progress)
$body$;
