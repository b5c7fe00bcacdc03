-- integrity: list the first error in the structure of the database file. The check reads
-- the whole file, and lets the -wal file grow while it runs. The time-out of the query
-- stops it, but in SQLite 3.40 not before the check has read every b-tree. So a file of 64
-- MiB or more is not checked.

select q.quick_check as problem, null as not_done
  from (select c.page_count * s.page_size / 1048576 as mib
          from pragma_page_count c, pragma_page_size s) f
 cross join pragma_quick_check(1) q
 where f.mib < 64 and q.quick_check <> 'ok'
union all
select null, 'the file has ' || f.mib || ' MiB, and only files under 64 MiB are '
             || 'checked: run sqlite3 FILE ''pragma quick_check'''
  from (select c.page_count * s.page_size / 1048576 as mib
          from pragma_page_count c, pragma_page_size s) f
 where f.mib >= 64;
