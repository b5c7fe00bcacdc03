-- enqueue: Put a job into a queue, which is created if need be; answers its id,
-- or that of the live job that has the unique key already.

create function readpast.enqueue(
	queue text, payload bytea, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	id      bigint;
	existed boolean;
begin
	if payload is null then
		raise exception 'the payload is null' using errcode = 'RP003';
	elsif priority not between 0 and :most_priority then
		raise exception 'priority % is not within 0..:most_priority', priority
			using errcode = 'RP003';
	elsif max_attempts not between 1 and :most_attempts then
		raise exception 'max_attempts is not within 1..:most_attempts'
			using errcode = 'RP003';
	elsif readpast.is_bad_name(kind, :most_name) then
		raise exception
			'the kind is not 1..:most_name bytes without control characters'
			using errcode = 'RP003';
	elsif readpast.is_bad_name(unique_key, :most_key) then
		raise exception
			'the unique key is not 1..:most_key bytes without control characters'
			using errcode = 'RP003';
	elsif readpast.is_bad_delay(delay) then
		raise exception 'the delay is not within 0..:most_days days'
			using errcode = 'RP003';
	elsif run_at not between '1970-01-01 00:00:00+00'
	                     and '9999-12-31 23:59:59.999+00' then
		raise exception 'run_at is not within the years 1970..9999'
			using errcode = 'RP003';
	elsif delay is not null and run_at is not null then
		raise exception 'either a delay or run_at, not both'
			using errcode = 'RP003';
	elsif replace and unique_key is null then
		raise exception 'replace needs a unique key' using errcode = 'RP003';
	end if;
	loop
		if num_nonnulls(priority, delay, run_at, max_attempts, headers,
		                unique_key) = 0 then
			id := readpast.put_plain(queue, kind, payload);
		elsif unique_key is null then
			id := readpast.put_one(
			          queue, priority, readpast.to_ms(delay), run_at,
			          max_attempts, kind, headers::json, payload);
		else
			select p.id, p.outcome = 1 into id, existed
			  from readpast.put_unique(
			           queue, payload, priority, readpast.to_ms(delay),
			           run_at, max_attempts, kind, headers::json, unique_key,
			           replace) p;
		end if;
		exit when id is not null;
		-- Others may have made the queue since, or made it anew.
		perform 1
		   from readpast.queue q
		  where q.name = enqueue.queue
		    and octet_length(enqueue.payload) > q.max_payload;
		if found then
			raise exception 'payload too large' using errcode = 'RP004';
		end if;
		perform readpast.queue_create(queue);
	end loop;
	if replace and existed then
		raise exception 'job % is running and cannot be replaced', id
			using errcode = 'RP006';
	end if;
	return id;
end
$body$;
