-- index: list indexes of the schema that are missing or invalid. The query also lists
-- indexes that somebody has added on a column that each claim changes. Each claim has
-- to write such an index, and so is slow.

select n.name as index, 'is not valid' as what,
       'reindex index ' || n.name as fix
  from (values ('job_line'), ('job_due'), ('job_scheduled'), ('job_unique'),
               ('job_pkey'), ('archive_state'), ('archive_keep'),
               ('kept_count_of'),
               ('cursor_pkey'), ('cursor_to_visit'), ('recheck_lane'),
               ('tick_pkey'), ('waiter_until'), ('lane_id')) as n(name)
  join pg_index i on i.indexrelid = to_regclass(n.name)
 where not i.indisvalid
union all
select n.name, 'is missing',
       'create it again as sql/postgres/schema defines it'
  from (values ('job_line'), ('job_due'), ('job_scheduled'), ('job_unique'),
               ('job_pkey'), ('archive_state'), ('archive_keep'),
               ('kept_count_of'),
               ('cursor_pkey'), ('cursor_to_visit'), ('recheck_lane'),
               ('tick_pkey'), ('waiter_until'), ('lane_id')) as n(name)
 where to_regclass(n.name) is null
union all
select i.indexrelid::regclass::text,
       'contains a column that every claim changes',
       'drop index ' || i.indexrelid::regclass
  from pg_index i
 where i.indrelid = 'job'::regclass
   and exists (select 1 from pg_attribute a
                where a.attrelid = i.indexrelid
                  and a.attname in ('lease_until', 'claim_no', 'worker_id',
                                    'attempt'));
