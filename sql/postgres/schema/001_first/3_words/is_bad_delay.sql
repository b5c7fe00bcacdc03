-- is_bad_delay: is a delay negative, or longer than is allowed?
-- delay: null stands for no delay.
-- Result: true if it must be refused; null for null.
-- Locks: none.

create function readpast.is_bad_delay(delay interval) returns boolean
language sql immutable as $body$
select delay operator(pg_catalog.<) interval '0'
       or delay operator(pg_catalog.>) interval ':most_days days'
$body$;
