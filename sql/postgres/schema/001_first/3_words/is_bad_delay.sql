-- is_bad_delay: is a delay negative, or longer than :most_days days?
-- delay: the delay. Null means no delay.
-- Result: true if the delay must be refused. Null if the delay is null.
-- Locks: none.

create function readpast.is_bad_delay(delay interval) returns boolean
language sql immutable as $body$
select delay operator(pg_catalog.<) interval '0'
       or delay operator(pg_catalog.>) interval ':most_days days'
$body$;
