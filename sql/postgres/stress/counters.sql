-- counters: read the server's counters of this database, the amount of WAL that the
-- whole server has written, and how many sessions of the stress test are still
-- connected.
select (xact_commit + xact_rollback)::bigint as transactions,
       (blks_hit + blks_read)::bigint as buffers,
       (pg_current_wal_lsn() - '0/0')::bigint as wal_bytes,
       deadlocks::bigint as deadlocks,
       (select count(*)
          from pg_stat_activity a
         where a.application_name = current_setting('application_name')
           and a.pid <> pg_backend_pid()) as sessions,
       exists (select from pg_extension
                where extname = 'pg_stat_statements') as counts_statements
  from pg_stat_database
 where datname = current_database();
