-- is_bad_lease: is a lease shorter than a millisecond, or longer than is
-- allowed?
-- lease: null stands for the queue's lease.
-- Result: true if it must be refused; null for null.
-- Locks: none.

create function readpast.is_bad_lease(lease interval) returns boolean
language sql immutable as $body$
select lease operator(pg_catalog.<) interval '1 millisecond'
       or lease operator(pg_catalog.>) interval ':most_days days'
$body$;
