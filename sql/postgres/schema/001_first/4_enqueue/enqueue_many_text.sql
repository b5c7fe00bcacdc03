-- enqueue_many_text: put many jobs with text payloads into a queue. Each payload is
-- stored as UTF-8.
-- queue .. group_key: the parameters of enqueue_many().
-- Rows: the rows of enqueue_many().
-- Locks: the rows that enqueue_many() locks.

create function readpast.enqueue_many(
	queue text, payloads text[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	group_key text default null)
returns setof bigint
language sql volatile as $body$
select readpast.enqueue_many(
           queue,
           case when pg_catalog.cardinality(payloads) operator(pg_catalog.=) 0
                then '{}'
                else (select pg_catalog.array_agg(
                                 pg_catalog.convert_to(p.payload, 'UTF8')
                                 order by p.number)
                        from pg_catalog.unnest(payloads) with ordinality
                             as p(payload, number)) end,
           priority, delays, max_attempts, kinds, headers, keep, timeout, expire,
           backoff, group_key)
$body$;
