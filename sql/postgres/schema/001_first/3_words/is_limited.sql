-- is_limited: must a claim from this queue respect a limit, a rate or a held group? The
-- planner inlines this function into the calling statement.
-- q: the queue.
-- Result: true or false.
-- Locks: none.

create function readpast.is_limited(q readpast.queue) returns boolean
language sql volatile as $body$
select (q).run_limit operator(pg_catalog.>) 0
       or (q).group_limit operator(pg_catalog.>) 0
       or (q).rate_count operator(pg_catalog.>) 0
       or coalesce((q).holds_until operator(pg_catalog.>)
                   pg_catalog.clock_timestamp(), false)
$body$;
