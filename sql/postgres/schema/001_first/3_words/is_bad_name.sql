-- is_bad_name: must this name be refused, because it is empty, too long, or has
-- control characters in it? For names of queues, kinds, keys and workers, and
-- for reasons.
--
-- name: the text; most: how many bytes are allowed.
-- Result: true if it must be refused; null for null.
-- Locks: none.

-- A string written as E'...' means the same whatever
-- standard_conforming_strings is.
create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f]'
$body$;
