-- privileges: return a row if this role has no right to enqueue jobs or to work on
-- them.

select current_user as role,
       string_agg(p.name || ' on ' || p.on_what, ', ' order by p.on_what, p.name)
       as lacking
  from (values ('insert', 'job'), ('update', 'job'), ('delete', 'job'),
               ('select', 'queue')) as p(name, on_what)
 where not has_table_privilege(p.on_what, p.name)
having bool_or(p.on_what = 'queue')
    or count(*) filter (where p.on_what = 'job') = 3;
