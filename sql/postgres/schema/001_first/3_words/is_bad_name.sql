-- is_bad_name: is a text empty or too long for the name of a queue, kind,
-- key or worker, or for a reason, or has it control characters?
-- name: the text; most: how many bytes are allowed.
-- Result: true if it must be refused; null for null.
-- Locks: none.

-- E'...' means the same whatever standard_conforming_strings is.
create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f]'
$body$;
