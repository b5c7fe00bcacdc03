-- schedule_set: add a schedule. If there is one of this name, :replace gives it the new
-- values, and otherwise there is no answer. :sets: the parsed spec, see the table.

insert into readpast.schedule as s
       (name, queue, spec, zone, sets, content, kind, headers, priority,
        missed, overlap, anchor, next_at, created_at)
values (:name, :queue, :spec, readpast.need_zone(:zone),
        :sets::pg_catalog.text::bigint[], :content, :kind,
        case when :headers::pg_catalog.text::pg_catalog.jsonb is not null
             then :headers::pg_catalog.text::pg_catalog.json end,
        :priority::bigint::integer, :missed::bigint::integer,
        :overlap::bigint::integer, readpast.at_ms(:anchor),
        readpast.at_ms(:next_at), pg_catalog.clock_timestamp())
    on conflict (name) do update
   set queue = excluded.queue, spec = excluded.spec, zone = excluded.zone,
       sets = excluded.sets, content = excluded.content,
       kind = excluded.kind, headers = excluded.headers,
       priority = excluded.priority, missed = excluded.missed,
       overlap = excluded.overlap, anchor = excluded.anchor,
       next_at = excluded.next_at
 where :replace::bigint::integer::boolean
returning id;
