-- schedule_import: insert a schedule that `readpast copy` copies from another database.
-- The new row has the same settings and times, but is paused. Its column `standby` gets
-- :standby (`copied` or `moved`, and the name of the source). The word `paused` follows
-- if the schedule was paused in the source.
-- If this database already has a schedule of this name, that schedule is replaced only
-- if its `standby` contains :origin, the name of the source. If a user has resumed that
-- schedule here, a copy does not replace it. A move replaces it, but the schedule stays
-- resumed and keeps its times, because it may have fired here already. If the existing
-- schedule is not replaced, no row is returned.
-- If the schedule has already fired for next_at (last_at is the same time), the new row
-- gets the schedule's following time as its next_at.
-- :sets is the parsed spec, see the table `schedule`.

insert into readpast.schedule as s
       (name, queue, spec, zone, sets, content, kind, headers, priority,
        missed, overlap, anchor, next_at, last_at, last_job_id, last_error,
        paused_at, created_at, standby)
values (:name, :queue, :spec, readpast.need_zone(:zone),
       :sets::pg_catalog.text::bigint[], :content, :kind,
       :headers::pg_catalog.text::pg_catalog.json,
       :priority::bigint::integer, :missed::bigint::integer,
       :overlap::bigint::integer, readpast.at_ms(:anchor),
       case when :last_at::bigint operator(pg_catalog.=) :next_at::bigint
            then readpast.next_fire(:sets::pg_catalog.text::bigint[], :zone,
                                    readpast.at_ms(:anchor),
                                    readpast.at_ms(:next_at))
            else readpast.at_ms(:next_at) end,
       readpast.at_ms(:last_at),
       :last_job_id::bigint, :last_error,
       coalesce(readpast.at_ms(:paused_at), pg_catalog.clock_timestamp()),
       readpast.at_ms(:created_at),
       :standby::pg_catalog.text operator(pg_catalog.||)
       case when :paused_at::bigint is null then '' else ' paused' end)
    on conflict (name) do update
   set queue = excluded.queue, spec = excluded.spec, zone = excluded.zone,
       sets = excluded.sets, content = excluded.content,
       kind = excluded.kind, headers = excluded.headers,
       priority = excluded.priority, missed = excluded.missed,
       overlap = excluded.overlap, anchor = excluded.anchor,
       next_at = case when s.paused_at is null then s.next_at
                      else excluded.next_at end,
       retry_at = case when s.paused_at is null then s.retry_at end,
       last_at = case when s.paused_at is null then s.last_at
                      else excluded.last_at end,
       last_job_id = case when s.paused_at is null then s.last_job_id
                          else excluded.last_job_id end,
       last_error = case when s.paused_at is null then s.last_error
                         else excluded.last_error end,
       paused_at = case when s.paused_at is not null
                        then excluded.paused_at end,
       created_at = excluded.created_at,
       standby = excluded.standby operator(pg_catalog.||)
                 case when s.standby operator(pg_catalog.~~) '% and paused'
                      then ' and paused' else '' end
 where pg_catalog.strpos(s.standby, :origin) operator(pg_catalog.>) 0
   and (s.paused_at is not null
        or pg_catalog.starts_with(:standby::pg_catalog.text, 'moved '))
returning id;
