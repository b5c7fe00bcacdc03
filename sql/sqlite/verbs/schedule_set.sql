-- schedule_set: add a schedule. If a schedule of this name exists and :replace is 1,
-- that schedule gets the new values. If a schedule of this name exists and :replace is
-- 0, nothing changes and no row is returned. The parameter :sets, the parsed spec, is
-- used only on PostgreSQL. Here the times of a schedule are computed in C, from the
-- text :spec.

-- answer:
insert into readpast_schedule (name, queue, spec, zone, content, kind, headers,
                               priority, missed, overlap, anchor, next_at,
                               created_at)
values (:name, :queue, :spec, :zone, :content, :kind, :headers,
        :priority, :missed, :overlap, :anchor, :next_at, :now)
    on conflict (name) do update
   set queue = excluded.queue, spec = excluded.spec, zone = excluded.zone,
       content = excluded.content, kind = excluded.kind,
       headers = excluded.headers, priority = excluded.priority,
       missed = excluded.missed, overlap = excluded.overlap,
       anchor = excluded.anchor, next_at = excluded.next_at,
       retry_at = iif(next_at is excluded.next_at, retry_at, null),
       last_error = iif(next_at is excluded.next_at or retry_at is null,
                        last_error, null)
 where :replace
returning id;
