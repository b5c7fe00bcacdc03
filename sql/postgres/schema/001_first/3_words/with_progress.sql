-- with_progress: what only some jobs have, with other progress.
-- extra: of a job, or null; progress: what its handler reports; '': nothing.
-- Result: what the job has then.
-- Locks: none.

create function readpast.with_progress(extra readpast.extra, progress text)
returns readpast.extra
language sql immutable as $body$
select readpast.extra_of((extra).keep_ms, (extra).timeout_ms, (extra).expire_at,
                         (extra).backoff, (extra).unique_for_ms,
                         case when progress operator(pg_catalog.<>) ''
                              then progress end)
$body$;
