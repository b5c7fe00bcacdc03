-- is_bad_name: must a text be refused because it is empty, is too long, or contains
-- control characters? This routine checks the names of queues, kinds, keys and workers,
-- and also the reason of a pause.
-- name: the text.
-- most: the largest allowed length, in bytes.
-- Result: true if the text must be refused. Null if the text is null.
-- Locks: none.

-- The pattern is written as E'...', because the meaning of a plain '...' with
-- backslashes depends on the setting standard_conforming_strings.
create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f-\\x9f]'
$body$;
