-- stress: what clients have asked of this database, where the server counts it.
select coalesce(sum(s.calls), 0)::bigint as statements
  from pg_stat_statements s
  join pg_database d on d.oid = s.dbid
 where d.datname = current_database();
