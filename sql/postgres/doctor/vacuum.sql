-- vacuum: list the places where autovacuum is off: the server or tables of the schema.

select 'the server' as where, s.name || ' is off' as what,
       'alter system set ' || s.name || ' = on; select pg_reload_conf()' as fix
  from pg_settings s
 where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
union all
select 'table ' || t.name, 'autovacuum_enabled is false',
       'alter table ' || t.name || ' reset (autovacuum_enabled)'
  from pg_class c
 cross join format('%I.%I', current_schema(), c.relname) as t(name)
 where c.relnamespace = current_schema()::regnamespace
   and (select option_value::boolean
          from pg_options_to_table(c.reloptions)
         where option_name = 'autovacuum_enabled') is false;
