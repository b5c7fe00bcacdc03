-- hollow: list bloated indexes of the table `job`. An index counts as bloated if it is
-- larger than 16 MiB plus 200 bytes for each row of the table. The number of rows is the
-- server's estimate.

select format('%I.%I', s.schemaname, c.relname) as index,
       pg_relation_size(i.indexrelid) as size_bytes, s.n_live_tup as rows
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_stat_user_tables s on s.relid = i.indrelid
 where i.indrelid = 'job'::regclass
   and pg_relation_size(i.indexrelid) > 16 * 1048576 + 200 * s.n_live_tup
 order by 2 desc;
