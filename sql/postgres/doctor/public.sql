-- public: list the rights on jobs that PUBLIC has. Each role that can connect to the
-- database has these rights, too.

select string_agg(p.name, ', ' order by p.name) as privileges,
       format('%I.%I', current_schema(), t.name) as table
  from (values ('job'), ('archive'), ('queue')) as t(name),
       (values ('select'), ('insert'), ('update'), ('delete')) as p(name)
 where has_schema_privilege('public', current_schema(), 'usage')
   and has_table_privilege('public', t.name, p.name)
 group by t.name;
