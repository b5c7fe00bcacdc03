-- enqueue_text: enqueue() for a payload that is text, stored as UTF-8.
-- Parameters: as of enqueue().
-- Result: as of enqueue().
-- Locks: those of enqueue().

create function readpast.enqueue(
	queue text, payload text, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	unique_for interval default null)
returns bigint
language sql volatile as $body$
select readpast.enqueue(queue, pg_catalog.convert_to(payload, 'UTF8'), priority,
                        delay, run_at, max_attempts, kind, headers, unique_key,
                        replace, keep, timeout, expire, backoff, unique_for)
$body$;
