-- snapshot: list the oldest snapshots and the sessions that hold them. While such a
-- snapshot is held, vacuum cannot remove rows that were deleted after it was taken. A
-- role sees the sessions of other roles only if it may read all statistics.

select p.holder, p.age_ms, p.doing, p.fix
  from (select 'session ' || a.pid || ' of ' || coalesce(a.usename, '-')
               || coalesce(' (' || nullif(a.application_name, '') || ')', '')
               as holder,
               (extract(epoch from clock_timestamp() - a.xact_start)
                * 1000)::bigint as age_ms,
               a.state || ': ' || left(regexp_replace(a.query, e'\\s+', ' ', 'g'),
                                       80) as doing,
               'select pg_terminate_backend(' || a.pid || ')' as fix
          from pg_stat_activity a
         where a.backend_xmin is not null and a.backend_type = 'client backend'
           and a.datname = current_database() and a.pid <> pg_backend_pid()
        union all
        select 'prepared transaction ' || x.gid,
               (extract(epoch from clock_timestamp() - x.prepared)
                * 1000)::bigint,
               'waits for its second phase',
               'rollback prepared ' || quote_literal(x.gid)
          from pg_prepared_xacts x
         where x.database = current_database()
        union all
        select 'replication slot ' || s.slot_name, null,
               case when s.active then 'in use' else 'used by nobody' end,
               'select pg_drop_replication_slot('
               || quote_literal(s.slot_name) || ')'
          from pg_replication_slots s
         where coalesce(s.xmin, s.catalog_xmin) is not null and not s.active
       ) p
 where coalesce(p.age_ms > :long_ms::bigint, true)
 order by p.age_ms desc nulls last
 limit 5;
