-- schedule_import: insert a schedule that `readpast copy` copies from another database.
-- The new row has the same settings and times, but is paused. Its column standby gets
-- :standby (`copied` or `moved`, and the name of the source), and the word `paused` if
-- the schedule was paused in the source.
-- This database may already have a schedule of this name. An earlier run of this copy
-- has written it if its standby contains :origin, the name of the source. In this case
-- the schedule is replaced. Otherwise no row is returned.
-- A user may have resumed the existing schedule. A copy does not replace such a
-- schedule, and returns no row. A move replaces only its settings: the schedule stays
-- resumed and keeps its times, because it may have fired here already.
-- If last_at is equal to next_at, the schedule has fired for next_at. Then retry_at is
-- set, so that the next sweep computes a new next_at.
-- SQLite does not use the parameter :sets, see schedule_set.sql.

-- answer:
insert into readpast_schedule (name, queue, spec, zone, content, kind, headers,
                               priority, missed, overlap, anchor, next_at,
                               retry_at, last_at, last_job_id, last_error,
                               paused_at, created_at, standby)
values (:name, :queue, :spec, :zone, :content, :kind, :headers, :priority,
       :missed, :overlap, :anchor, :next_at,
       iif(:last_at is :next_at, :next_at, null), :last_at, :last_job_id,
       :last_error, coalesce(:paused_at, :now), :created_at,
       :standby || iif(:paused_at is null, '', ' paused'))
    on conflict (name) do update
   set queue = excluded.queue, spec = excluded.spec, zone = excluded.zone,
       content = excluded.content, kind = excluded.kind,
       headers = excluded.headers, priority = excluded.priority,
       missed = excluded.missed, overlap = excluded.overlap,
       anchor = excluded.anchor, created_at = excluded.created_at,
       next_at = iif(paused_at is null, next_at, excluded.next_at),
       retry_at = iif(paused_at is null, retry_at, excluded.retry_at),
       last_at = iif(paused_at is null, last_at, excluded.last_at),
       last_job_id = iif(paused_at is null, last_job_id, excluded.last_job_id),
       last_error = iif(paused_at is null, last_error, excluded.last_error),
       paused_at = iif(paused_at is null, null, excluded.paused_at),
       standby = excluded.standby
                 || iif(standby glob '* and paused', ' and paused', '')
 where instr(standby, :origin) > 0
   and (paused_at is not null or :standby glob 'moved *')
returning id;
