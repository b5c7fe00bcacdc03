-- with_progress: replace the progress in a job's `extra`, the column for rarely used
-- fields.
-- extra: the old value of the column, or null.
-- progress: the progress that the handler reports. '' or null removes the progress.
-- Result: the new value of the column. Null if all its fields are null.
-- Locks: none.

create function readpast.with_progress(extra readpast.extra, progress text)
returns readpast.extra
language sql immutable as $body$
select readpast.extra_of((extra).keep_ms, (extra).timeout_ms, (extra).expire_at,
                         (extra).backoff, (extra).unique_for_ms,
                         case when progress operator(pg_catalog.<>) ''
                              then progress end)
$body$;
