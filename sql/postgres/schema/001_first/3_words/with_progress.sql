-- with_progress: replace the progress in a job's `extra` (what only some jobs have).
-- extra: the value before, or null.
-- progress: the progress that the handler reports. '' or null removes the progress.
-- Result: the value afterwards, or null if nothing is left in it.
-- Locks: none.

create function readpast.with_progress(extra readpast.extra, progress text)
returns readpast.extra
language sql immutable as $body$
select readpast.extra_of((extra).keep_ms, (extra).timeout_ms, (extra).expire_at,
                         (extra).backoff, (extra).unique_for_ms,
                         case when progress operator(pg_catalog.<>) ''
                              then progress end)
$body$;
