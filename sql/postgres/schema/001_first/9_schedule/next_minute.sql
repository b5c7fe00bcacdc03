-- next_minute: round a time up to a whole minute.
-- t: the time.
-- Result: the first whole minute at or after this time.
-- Locks: none.

create function readpast.next_minute(t timestamp) returns timestamp
language sql immutable
as $body$
select pg_catalog.date_trunc('minute', t operator(pg_catalog.+)
                                       interval '59.999999 seconds')
$body$;
