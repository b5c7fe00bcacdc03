-- header_name: return the name of a header that a fired job gets. All these names begin
-- with the name of this project. The routine joins this name from two parts, because
-- the whole word would be replaced by the schema's name when the schema is created.
-- what: the rest of the name.
-- Result: the name.
-- Locks: none.

create function readpast.header_name(what text) returns text
language sql immutable
as $body$
select ('read' operator(pg_catalog.||) 'past-') operator(pg_catalog.||) what
$body$;
