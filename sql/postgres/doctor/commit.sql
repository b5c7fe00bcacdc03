-- commit: list settings that let a commit return before it is on the disk. The query
-- finds such settings of this session, of a role, of this database and of the server.
-- For a role or a database the server stores a value as it was written.

select current_setting('synchronous_commit') as setting,
       'role ' || current_user as whom
 where current_setting('synchronous_commit') = 'off'
union all
select 'off', coalesce('role ' || r.rolname, 'database ' || d.datname)
  from pg_db_role_setting s
  left join pg_roles r on r.oid = s.setrole
  left join pg_database d on d.oid = s.setdatabase
 where exists (select from unnest(s.setconfig) c(setting)
                where c.setting ~* '^synchronous_commit=(off|false|no|0)$')
   and s.setrole is distinct from
       (select oid from pg_roles where rolname = current_user)
   and s.setdatabase in (0, (select oid from pg_database
                              where datname = current_database()))
   and (s.setrole = 0
        or has_schema_privilege(s.setrole, current_schema(), 'usage'));
