-- is_bad_name: Is this no name for a queue, kind, key or worker? Null is none
-- of them. E'...' is the same whatever standard_conforming_strings is.

create function readpast.is_bad_name(name text, most integer) returns boolean
language sql immutable as $body$
select pg_catalog.octet_length(name) operator(pg_catalog.<) 1
       or pg_catalog.octet_length(name) operator(pg_catalog.>) most
       or name operator(pg_catalog.~) E'[\\x01-\\x1f\\x7f]'
$body$;
