-- enqueue_many_json: put many jobs with JSON payloads into a queue. The text of each
-- payload is stored as UTF-8.
-- queue .. group_key: the parameters of enqueue_many().
-- Rows: the rows of enqueue_many().
-- Locks: the rows that enqueue_many() locks.

create function readpast.enqueue_many(
	queue text, payloads jsonb[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	group_key text default null)
returns setof bigint
language sql volatile as $body$
select readpast.enqueue_many(queue, payloads::pg_catalog.text[], priority,
                             delays, max_attempts, kinds, headers, keep, timeout,
                             expire, backoff, group_key)
$body$;
