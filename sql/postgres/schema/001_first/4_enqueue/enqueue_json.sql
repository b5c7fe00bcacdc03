-- enqueue_json: put a job with a JSON payload into a queue. The text of the payload is
-- stored as UTF-8.
-- queue .. group_key: the parameters of enqueue().
-- Result: the result of enqueue().
-- Locks: the rows that enqueue() locks.

create function readpast.enqueue(
	queue text, payload jsonb, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	unique_for interval default null, group_key text default null)
returns bigint
language sql volatile as $body$
select readpast.enqueue(queue,
                        pg_catalog.convert_to(payload::pg_catalog.text, 'UTF8'),
                        priority, delay, run_at, max_attempts, kind, headers,
                        unique_key, replace, keep, timeout, expire, backoff,
                        unique_for, group_key)
$body$;
