-- privileges: return a row if this role cannot enqueue jobs and cannot work on jobs.
-- This is so if the role may not read the table `queue`, or has no right to change the
-- table `job`.

select current_user as role,
       string_agg(p.name || ' on ' || p.on_what, ', ' order by p.on_what, p.name)
       as lacking
  from (values ('insert', 'job'), ('update', 'job'), ('delete', 'job'),
               ('select', 'queue')) as p(name, on_what)
 where not has_table_privilege(p.on_what, p.name)
having bool_or(p.on_what = 'queue')
    or count(*) filter (where p.on_what = 'job') = 3;
