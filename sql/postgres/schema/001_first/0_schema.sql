-- 0_schema: the schema. If the user chose another name for it, the word `readpast` is
-- replaced by that name when these files are installed and when a verb is prepared. So
-- in these files the word must stand for the schema and for nothing else.

create schema if not exists readpast;

-- The files are installed in the order of their names, so a routine may call
-- one that comes later.
set local check_function_bodies = off;
