-- header_name: return the name of a header that a fired job gets. The name begins with
-- the word that stands for the schema's name in these files. So it is put together from
-- parts, which are not replaced when the schema has another name.
-- what: the rest of the name.
-- Result: the name.
-- Locks: none.

create function readpast.header_name(what text) returns text
language sql immutable
as $body$
select ('read' operator(pg_catalog.||) 'past-') operator(pg_catalog.||) what
$body$;
