-- vacuum: list the places where autovacuum is off: the server or tables of the schema.

select 'the server' as where, s.name || ' is off' as what,
       'alter system set ' || s.name || ' = on; select pg_reload_conf()' as fix
  from pg_settings s
 where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
union all
select 'table ' || c.relname, 'autovacuum_enabled is false',
       format('alter table %s reset (autovacuum_enabled)', c.oid::regclass)
  from pg_class c
 where c.relnamespace = current_schema()::regnamespace
   and 'autovacuum_enabled=false' = any (c.reloptions);
