-- bloat: list tables with many dead rows, which vacuum should have removed long ago.
-- The numbers of rows are the server's estimates. The query also shows the size of each
-- table and of its indexes.

select format('%I.%I', s.schemaname, s.relname) as table,
       s.n_dead_tup as dead, s.n_live_tup as live,
       pg_table_size(s.relid) as table_bytes,
       pg_indexes_size(s.relid) as index_bytes,
       coalesce((extract(epoch from clock_timestamp()
                         - greatest(s.last_autovacuum, s.last_vacuum))
                 * 1000)::bigint::text || ' ms ago', 'never') as vacuumed
  from pg_stat_user_tables s
 where s.schemaname = current_schema()
   and s.n_dead_tup > 10000 + s.n_live_tup * 0.2
 order by s.n_dead_tup desc;
