-- path: list schemas in this role's search_path in which other roles may create
-- objects. If a statement names a table, function or operator without its schema, the
-- server may use an object of such a schema instead of the intended one.

select n.nspname as schema, current_user as role,
       string_agg(distinct coalesce('role ' || r.rolname, 'everybody'), ', ')
       as others,
       'revoke create on schema ' || quote_ident(n.nspname) || ' from '
       || string_agg(distinct coalesce(quote_ident(r.rolname), 'public'), ', ')
       as fix
  from pg_settings s
  cross join lateral regexp_matches(s.reset_val,
                                    e'"((?:[^"]|"")+)"|([^,"\\s]+)', 'g')
                     as m(part)
  join pg_namespace n
    on n.nspname = case when m.part[1] = '$user' then current_user
                        else coalesce(replace(m.part[1], '""', '"'),
                                      lower(m.part[2])) end
  cross join lateral aclexplode(coalesce(n.nspacl,
                                         acldefault('n', n.nspowner))) a
  left join pg_roles r on r.oid = a.grantee
 where s.name = 'search_path' and a.privilege_type = 'CREATE'
   and a.grantee <> n.nspowner and r.rolsuper is not true
   and r.rolname is distinct from current_user
 group by n.nspname;
