-- The role mallory, an attacker, creates these objects in the schema public. Each is a
-- shadow: it has the name of an object of pg_catalog that readpast's statements use. A
-- shadow that runs writes a line to the server's log, because a rollback cannot remove
-- a line of the log. Then the shadow does the same as the real object. The tables
-- `word` and `sign` contain the names of functions and operators.

create function public.see(what text, answer boolean default true)
returns boolean
language plpgsql set search_path = pg_catalog as $body$
begin
	raise log 'shadow: % ran as %', what, current_user;
	return answer;
end
$body$;

create function public.shadow(name text, args text[], answer text)
returns void
language plpgsql as $body$
begin
	execute format(
		'create function public.%I(%s) returns %s language plpgsql '
		'set search_path = pg_catalog as $see$ begin '
		'perform public.see(%L); %s pg_catalog.%I(%s); end $see$',
		name, array_to_string(args, ', '), answer, 'function ' || name,
		case when answer = 'void' then 'perform' else 'return' end, name,
		(select string_agg('$' || n, ', ')
		   from generate_series(1, cardinality(args)) n));
exception when others then
	null; -- skip this shadow: it exists, or PL/pgSQL refuses its arguments
end
$body$;

create function public.shadow(sign text, l text, r text, answer text)
returns void
language plpgsql as $body$
declare
	name text := 'sign_' || md5(concat_ws(',', sign, l, r));
begin
	execute format(
		'create function public.%I(%s) returns %s language plpgsql '
		'set search_path = pg_catalog as $see$ begin '
		'perform public.see(%L); return %s operator(pg_catalog.%s) %s; '
		'end $see$',
		name, concat_ws(', ', l, r), answer,
		format('operator %s (%s, %s)', sign, l, r),
		case when l is null then '' else '$1' end, sign,
		case when l is null then '$1' else '$2' end);
	execute format('create operator public.%s (%s rightarg = %s, function = '
	               'public.%I)', sign, 'leftarg = ' || l || ',', r, name);
exception when others then
	null;
end
$body$;

-- These functions and operators have the same arguments as the real ones. They are
-- called only if public precedes pg_catalog in the search_path.
select public.shadow(
           p.proname, array(select format_type(a.type, null)
                              from unnest(p.proargtypes) with ordinality
                                   as a(type, n)
                             order by a.n),
           case when p.proretset then 'setof ' else '' end
           || format_type(p.prorettype, null))
  from pg_proc p
 where p.pronamespace = 'pg_catalog'::regnamespace
   and p.proname in (select w.name from word w);
select public.shadow(o.oprname, nullif(o.oprleft, 0)::regtype::text,
                     o.oprright::regtype::text, o.oprresult::regtype::text)
  from pg_operator o
 where o.oprnamespace = 'pg_catalog'::regnamespace
   and o.oprname in (select s.name from sign s);

-- For pairs of types that an operator of pg_catalog takes only after a conversion, make
-- an operator that takes exactly these types. PostgreSQL prefers an exact match, so it
-- chooses this operator even if public comes after pg_catalog in the search path.
do $body$
declare
	types text[] := '{smallint,integer,bigint,numeric,float8,text,interval,
		timestamptz,boolean,bytea,jsonb,tid,xid8}';
	it record;
	answer text;
begin
	for it in
		select s.name, l, r
		  from sign s, unnest(types) l, unnest(types) r
	loop
		begin
			execute format('select pg_typeof(null::%s operator(pg_catalog.%s) '
			               'null::%s)', it.l, it.name, it.r) into answer;
			perform public.shadow(it.name, it.l, it.r, answer);
		exception when others then
			null;
		end;
	end loop;
	-- A function that takes any type gets one shadow for each type.
	for it in
		select p.proname,
		       array(select case when format_type(a.type, null) ~ 'array'
		                         then e.type || '[]'
		                         when format_type(a.type, null) ~ '^any'
		                         then e.type
		                         else format_type(a.type, null) end
		               from unnest(p.proargtypes) with ordinality
		                    as a(type, n)
		              order by a.n) as args,
		       case when p.proretset then 'setof ' else '' end
		       || case when format_type(p.prorettype, null) ~ 'array'
		               then e.type || '[]'
		               when format_type(p.prorettype, null) ~ '^any'
		               then e.type
		               else format_type(p.prorettype, null) end as answer
		  from pg_proc p, unnest(types) e(type)
		 where p.pronamespace = 'pg_catalog'::regnamespace
		   and p.proname in (select w.name from word w)
		   and exists (select from unnest(p.proargtypes) a(type)
		                where format_type(a.type, null) ~ '^any')
	loop
		perform public.shadow(it.proname, it.args, it.answer);
	end loop;
end
$body$;

-- Create shadows of the server's tables and views, and then of its types.
do $body$
declare
	it record;
begin
	for it in
		select c.relname
		  from pg_class c
		 where c.relnamespace = 'pg_catalog'::regnamespace
		   and c.relkind in ('r', 'v')
		   and c.relname in (select w.name from word w)
		   -- pg_attribute has a column of type anyarray, which no view
		   -- can have
		   and c.relname <> 'pg_attribute'
	loop
		execute format('create view public.%I as select * from pg_catalog.%I '
		               'where public.see(%L)', it.relname, it.relname,
		               'view ' || it.relname);
		execute format('grant select on public.%I to public', it.relname);
	end loop;
	for it in
		select t.typname
		  from pg_type t
		 where t.typnamespace = 'pg_catalog'::regnamespace
		   and t.typname in (select w.name from word w)
		   and t.typtype = 'b' and t.typelem = 0
	loop
		execute format('create domain public.%I as pg_catalog.%I check '
		               '(public.see(%L))', it.typname, it.typname,
		               'type ' || it.typname);
	end loop;
end
$body$;
