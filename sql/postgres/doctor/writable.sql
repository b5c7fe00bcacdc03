-- writable: list roles other than the owner that may create objects in the schema
-- itself. Such a role could create a routine with the name of one of the schema's
-- routines. If the parameters of the new routine fit a call better, the server runs it
-- and not the schema's own routine.

select n.nspname as schema,
       string_agg(distinct coalesce('role ' || r.rolname, 'everybody'), ', ')
       as others,
       'revoke create on schema ' || quote_ident(n.nspname) || ' from '
       || string_agg(distinct coalesce(quote_ident(r.rolname), 'public'), ', ')
       as fix
  from pg_namespace n
  cross join lateral aclexplode(n.nspacl) a
  left join pg_roles r on r.oid = a.grantee
 where n.nspname = current_schema() and a.privilege_type = 'CREATE'
   and a.grantee <> n.nspowner and r.rolsuper is not true
 group by n.nspname;
