-- 0_schema: the schema. Where another name was chosen, the word `readpast` is
-- replaced by it when this is installed and when a verb is prepared: so it
-- stands for the schema in these files, and for nothing else.

create schema if not exists readpast;

-- The files are installed in the order of their names, so a routine may call
-- one that comes later.
set local check_function_bodies = off;
