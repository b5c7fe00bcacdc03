-- next_minute: a time rounded up to the minute.
-- t: the time.
-- Result: the first whole minute at or after it.
-- Locks: none.

create function readpast.next_minute(t timestamp) returns timestamp
language sql immutable
as $body$
select pg_catalog.date_trunc('minute', t operator(pg_catalog.+)
                                       interval '59.999999 seconds')
$body$;
