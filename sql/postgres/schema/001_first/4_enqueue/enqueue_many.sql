-- enqueue_many: Many jobs of one priority at once; answers their ids in order.
-- Arrays that are given have as many elements as there are payloads.

create function readpast.enqueue_many(
	queue text, payloads bytea[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	n integer := cardinality(payloads);
begin
	if payloads is null or array_position(payloads, null) is not null then
		raise exception 'a payload is null' using errcode = 'RP003';
	elsif priority not between 0 and :most_priority then
		raise exception 'priority % is not within 0..:most_priority', priority
			using errcode = 'RP003';
	elsif max_attempts not between 1 and :most_attempts then
		raise exception 'max_attempts is not within 1..:most_attempts'
			using errcode = 'RP003';
	elsif exists (select 1 from unnest(kinds) as k(kind)
	               where readpast.is_bad_name(k.kind, :most_name)) then
		raise exception
			'a kind is not 1..:most_name bytes without control characters'
			using errcode = 'RP003';
	elsif exists (select 1 from unnest(delays) as d(delay)
	               where readpast.is_bad_delay(d.delay)) then
		raise exception 'a delay is not within 0..:most_days days'
			using errcode = 'RP003';
	elsif cardinality(delays) <> n or cardinality(kinds) <> n
	      or cardinality(headers) <> n then
		raise exception 'there are % payloads, and more or less of the rest',
			n using errcode = 'RP003';
	elsif n = 0 then
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
		           null, array_fill(max_attempts::bigint, array[n]), kinds,
		           headers::text[], payloads,
		           (select max(octet_length(p.payload))
		              from unnest(payloads) as p(payload))) p;
		exit when found;
		perform 1
		   from readpast.queue q
		  where q.name = enqueue_many.queue
		    and exists (select 1 from unnest(payloads) as p(payload)
		                 where octet_length(p.payload) > q.max_payload);
		if found then
			raise exception 'payload too large' using errcode = 'RP004';
		end if;
		perform readpast.queue_create(queue);
	end loop;
end
$body$;
