-- schedule_import: write a schedule of another database as it was, but paused: :standby
-- says by which copy, and a word is added if it was paused there, too. It replaces one that
-- the copy named :origin has written, and no other: then there is no answer. If the job of
-- next_at was enqueued, the next sweep computes the instant after it. (:sets: see
-- schedule_set.)

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
       anchor = excluded.anchor, next_at = excluded.next_at,
       retry_at = excluded.retry_at, last_at = excluded.last_at,
       last_job_id = excluded.last_job_id, last_error = excluded.last_error,
       paused_at = excluded.paused_at, created_at = excluded.created_at,
       standby = excluded.standby
 where instr(standby, :origin) > 0
returning id;
