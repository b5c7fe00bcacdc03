-- statistics: return a row if this role has no right to see the sessions of other
-- roles. In this case the check `snapshot` does not find old snapshots that these
-- sessions hold.

select 'role ' || current_user || ' may not see the sessions of other roles: '
       || 'grant pg_read_all_stats to it' as not_done
 where not pg_has_role(current_user, 'pg_read_all_stats', 'usage');
