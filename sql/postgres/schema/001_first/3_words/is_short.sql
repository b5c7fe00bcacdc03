-- is_short: So short that the sweep must not wait for the walk to find it far
-- behind the head.

create function readpast.is_short(lease_ms bigint) returns boolean
language sql immutable as $body$
select lease_ms operator(pg_catalog.<) 5000
$body$;
