-- standby: list the asynchronous standbys, if no standby is synchronous. If an
-- asynchronous standby takes over, it may lack the last commits.

select coalesce(nullif(r.application_name, ''), '(without a name)') as standby,
       r.state,
       pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn)::bigint
       as behind_bytes
  from pg_stat_replication r
 where r.sync_state = 'async' and r.state <> 'backup'
   and not exists (select 1 from pg_stat_replication s
                    where s.sync_state in ('sync', 'quorum'))
   and not pg_is_in_recovery();
