-- statements: count the statements that clients have sent to this database. The server
-- counts them if it has the extension pg_stat_statements.
select set_config('search_path', concat('pg_catalog, ',
                  quote_ident(n.nspname), ', pg_temp'), true)
  from pg_extension e
  join pg_namespace n on n.oid = e.extnamespace
 where e.extname = 'pg_stat_statements';
select coalesce(sum(s.calls), 0)::bigint as statements
  from pg_stat_statements s
  join pg_database d on d.oid = s.dbid
 where d.datname = current_database();
