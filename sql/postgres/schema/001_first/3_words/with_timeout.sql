-- with_timeout: what only some jobs have, with the queue's time-out unless the job has one.
-- extra: of a job, or null; timeout_ms: of its queue.
-- Result: what a worker gets of the job.
-- Locks: none.

create function readpast.with_timeout(extra readpast.extra, timeout_ms bigint)
returns readpast.extra
language sql immutable as $body$
select readpast.extra_of((extra).keep_ms,
                         coalesce((extra).timeout_ms, with_timeout.timeout_ms),
                         (extra).expire_at, (extra).backoff,
                         (extra).unique_for_ms, (extra).progress)
$body$;
