-- 0_schema: create the schema. The user may choose another name for the schema than
-- `readpast`. Then each word `readpast` in these files is replaced by that name when
-- the files are installed. The same is done with the statements in sql/postgres/verbs
-- when they are prepared. So in all these files the word must mean the schema and
-- nothing else.

create schema if not exists readpast;

-- The files are installed in the order of their names. A routine may call one that is
-- installed later, because the bodies of routines are not checked here.
set local check_function_bodies = off;
