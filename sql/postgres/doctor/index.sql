-- index: list indexes of the schema that are missing or invalid. The query also lists
-- indexes that somebody has added on a column that each claim changes. Each claim has
-- to write such an index, and so is slow.

with schema_index as (
  select format('%I.%I', current_schema(), n.name) as name
    from jsonb_array_elements_text(:indexes) n(name))
select n.name as index, 'is not valid' as what,
       'reindex index ' || n.name as fix
  from schema_index n
  join pg_index i on i.indexrelid = to_regclass(n.name)
 where not i.indisvalid
union all
select n.name, 'is missing',
       'create it again as sql/postgres/schema defines it'
  from schema_index n
 where to_regclass(n.name) is null
union all
select n.name, 'contains a column that every claim changes',
       'drop index ' || n.name
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
 cross join format('%I.%I', current_schema(), c.relname) as n(name)
 where i.indrelid = 'job'::regclass
   and exists (select 1 from pg_attribute a
                where a.attrelid = i.indexrelid
                  and a.attname in ('lease_until', 'claim_no', 'worker_id',
                                    'attempt'));
