-- bloat: tables with dead rows that vacuum should have removed long ago, by the
-- server's own estimate. The sizes of the table and of its indexes are shown, too.

select s.relname as table, s.n_dead_tup as dead, s.n_live_tup as live,
       pg_table_size(s.relid) as table_bytes,
       pg_indexes_size(s.relid) as index_bytes,
       coalesce((extract(epoch from clock_timestamp()
                         - greatest(s.last_autovacuum, s.last_vacuum))
                 * 1000)::bigint::text || ' ms ago', 'never') as vacuumed
  from pg_stat_user_tables s
 where s.schemaname = current_schema()
   and s.n_dead_tup > 10000 + s.n_live_tup * 0.2
 order by s.n_dead_tup desc;
