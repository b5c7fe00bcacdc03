-- 0_schema: create the schema. If the user chooses another name for the schema than
-- `readpast`, each word `readpast` in the files of this folder is replaced by that name
-- when the files are installed. The statements in sql/postgres/verbs are changed in the
-- same way when they are prepared. So in both folders the word must always mean the
-- schema.

create schema if not exists readpast;

-- The files are installed in the order of their names. A routine may call another
-- routine that is installed later, because the bodies of routines are not checked here.
set local check_function_bodies = off;
