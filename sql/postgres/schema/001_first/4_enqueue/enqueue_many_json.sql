-- enqueue_many_json: the same for payloads that are JSON.

create function readpast.enqueue_many(
	queue text, payloads jsonb[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null)
returns setof bigint
language sql volatile as $body$
select readpast.enqueue_many(queue, payloads::pg_catalog.text[], priority,
                             delays, max_attempts, kinds, headers)
$body$;
