-- header_name: the name of a header that a fire adds. It is put together, because the word
-- that it begins with stands for the schema's name in these files.
-- what: the rest of the name.
-- Result: the name.
-- Locks: none.

create function readpast.header_name(what text) returns text
language sql immutable
as $body$
select ('read' operator(pg_catalog.||) 'past-') operator(pg_catalog.||) what
$body$;
