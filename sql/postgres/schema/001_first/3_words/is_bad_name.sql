-- is_bad_name: is this name of a queue, kind, key or worker empty, too long, or has it
-- control characters? Null is not bad. E'...' is the same whatever
-- standard_conforming_strings is.

create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f]'
$body$;
