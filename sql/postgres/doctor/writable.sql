-- writable: list roles other than the owner of the tables that may create objects in the
-- schema itself. Such a role could create a routine with the name of one of the schema's
-- routines. If the parameters of the new routine fit a call better, the server runs it
-- and not the schema's own routine. The owner of the schema is such a role, too, unless
-- the owner of the tables is a member of it. (A superuser counts as a member of all.)

select n.nspname as schema,
       string_agg(distinct coalesce('role ' || r.rolname, 'everybody'), ', ')
       as others,
       string_agg(distinct case when a.role = n.nspowner
                  then format('alter schema %I owner to %s', n.nspname,
                              t.relowner::regrole)
                  else format('revoke create on schema %I from %s', n.nspname,
                              coalesce(quote_ident(r.rolname), 'public'))
                  end, '; ') as fix
  from pg_namespace n
  join pg_class t on t.relnamespace = n.oid and t.relname = 'job'
  join pg_roles o on o.oid = t.relowner
  join pg_database d on d.datname = current_database()
  cross join lateral (select n.nspowner
                       union
                      select grantee from aclexplode(n.nspacl)
                       where privilege_type = 'CREATE') a(role)
  left join pg_roles r on r.oid = a.role
 where n.nspname = current_schema() and a.role <> t.relowner
   and r.rolsuper is not true
   and (r.rolname = 'pg_database_owner' and t.relowner = d.datdba) is not true
   and (a.role = n.nspowner and not o.rolsuper
        and pg_has_role(o.oid, n.nspowner, 'usage')) is not true
 group by n.nspname;
