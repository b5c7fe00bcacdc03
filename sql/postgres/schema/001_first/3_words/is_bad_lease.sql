-- is_bad_lease: is a lease shorter than a millisecond, or longer than :most_days days?
-- lease: the lease. Null means the queue's setting.
-- Result: true if the lease must be refused. Null if the lease is null.
-- Locks: none.

create function readpast.is_bad_lease(lease interval) returns boolean
language sql immutable as $body$
select lease operator(pg_catalog.<) interval '1 millisecond'
       or lease operator(pg_catalog.>) interval ':most_days days'
$body$;
