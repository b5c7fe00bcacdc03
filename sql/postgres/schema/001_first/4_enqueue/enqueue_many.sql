-- enqueue_many: put many jobs of one priority into a queue. A queue that does not exist
-- is created.
-- payloads: an array with the payload of each job.
-- delays, kinds, headers: arrays of the same length, or null.
-- priority, max_attempts, keep, timeout, expire, backoff, group_key: parameters of
-- enqueue(). All the jobs get the same values.
-- Rows: the ids, in the order of the arrays. SQLSTATE RP003: an argument is wrong.
-- SQLSTATE RP004: a payload is larger than the queue's max_payload.
-- Locks: a row of `waiter`, if a worker waits. Above READ COMMITTED the call also locks
-- the queue's row, see keep_queue(). The call waits for an open transaction that
-- creates the same queue.

create function readpast.enqueue_many(
	queue text, payloads bytea[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null,
	keep interval default null, timeout interval default null,
	expire interval default null, backoff interval[] default null,
	group_key text default null)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	largest bigint := (select max(octet_length(p.payload))
	                     from unnest(payloads) as p(payload));
begin
	perform readpast.check_jobs(payloads, priority, delays, max_attempts,
	                            kinds, headers);
	perform readpast.check_terms(
		keep, timeout, expire, backoff, group_key => enqueue_many.group_key,
		delay => (select max(d.delay) from unnest(delays) as d(delay)));
	if cardinality(payloads) = 0 then
		return;
	end if;
	loop
		return query
		select p
		  from readpast.put(
		           queue, priority,
		           (select array_agg(readpast.to_ms(d.delay)
		                             order by d.number)
		              from unnest(delays) with ordinality
		                   as d(delay, number)),
		           null,
		           array_fill(max_attempts::bigint,
		                      array[cardinality(payloads)]),
		           kinds, headers::text[], payloads, largest,
		           readpast.to_ms(keep), readpast.to_ms(timeout),
		           readpast.to_ms(expire), readpast.backoff_list(backoff),
		           case when group_key is not null
		                then array_fill(group_key, array[cardinality(payloads)]) end) p;
		exit when found;
		perform readpast.need_queue(queue, largest);
	end loop;
end
$body$;
