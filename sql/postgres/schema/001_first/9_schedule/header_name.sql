-- header_name: return the name of a header that a fired job gets. All these names begin
-- with the word that is replaced by the schema's name when these files are installed.
-- Here the word must not be replaced, so the routine puts it together from two parts.
-- what: the rest of the name.
-- Result: the name.
-- Locks: none.

create function readpast.header_name(what text) returns text
language sql immutable
as $body$
select ('read' operator(pg_catalog.||) 'past-') operator(pg_catalog.||) what
$body$;
