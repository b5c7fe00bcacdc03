-- schedule_set: add a schedule. If there is a schedule of this name and :replace is 1,
-- that schedule gets the new values. If there is a schedule of this name and :replace
-- is 0, nothing changes and no row is returned.
-- :sets is the parsed spec, see the table `schedule`.

select id
  from readpast.put_schedule(
           :name, :queue, :spec, :zone, :sets::pg_catalog.text::bigint[],
           :content, :kind,
           case when :headers::pg_catalog.text::pg_catalog.jsonb is not null
                then :headers::pg_catalog.text::pg_catalog.json end,
           :priority::bigint::integer, :missed::bigint::integer,
           :overlap::bigint::integer, readpast.at_ms(:anchor),
           readpast.at_ms(:next_at), :replace::bigint::integer::boolean)
       as s(id);
