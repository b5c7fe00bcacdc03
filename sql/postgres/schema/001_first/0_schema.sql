-- 0_schema: create the schema. If the user chooses another name for the schema than
-- `readpast`, each word `readpast` in the files of this folder is replaced by that name
-- when the files are installed. The statements in sql/postgres/verbs are changed in the
-- same way when they are prepared. So in both folders the word must always mean the
-- schema.
-- Result: none. SQLSTATE 3F000: the schema exists and cannot be used.
-- Locks: none. The statement waits for an open transaction that creates the same schema.

-- An empty schema may exist. One of another owner is refused, because the owner could
-- replace the routines. One with other objects is refused, because grants.sql takes
-- rights from all objects of the schema.
do $body$
declare
	present pg_namespace;
begin
	select * into present from pg_namespace where nspname = 'readpast';
	if not found then
		create schema readpast;
	elsif not pg_has_role(present.nspowner, 'usage') then
		raise exception using errcode = '3F000',
			message = format('schema readpast belongs to role %s: run '
				'init as this role, or choose another schema with '
				'?schema=NAME', present.nspowner::regrole);
	elsif exists (select from pg_depend
	               where refclassid = 'pg_namespace'::regclass
	                 and refobjid = present.oid and deptype = 'n') then
		raise exception using errcode = '3F000',
			message = 'schema readpast already has objects: '
			'choose another schema with ?schema=NAME';
	end if;
end
$body$;

-- The files are installed in the order of their names. A routine may call another
-- routine that is installed later, because the bodies of routines are not checked here.
set local check_function_bodies = off;
