-- 0_schema: create the schema. The user may choose another name for it. Then the word
-- `readpast` is replaced by that name when these files are installed and when a verb is
-- prepared. So in these files the word must stand for the schema and for nothing else.

create schema if not exists readpast;

-- The files are installed in the order of their names. A routine may call one that is
-- installed later, because bodies are not checked.
set local check_function_bodies = off;
