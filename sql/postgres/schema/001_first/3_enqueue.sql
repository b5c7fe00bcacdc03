-- Schema 1: enqueue, in all its forms.
--
-- A transaction has its own number before it looks at the clock and draws numbers
-- of the line, so that the sweep can tell when everything up to a time or a number
-- is decided. One that draws late in its life, or for long, leaves a note in
-- `stray`: it is seen when the jobs are, and tells the sweep to look for them
-- behind the head.

create function readpast.need_object(headers json) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if json_typeof(headers) <> 'object' then
		raise exception 'the headers are not a JSON object'
			using errcode = 'RP003';
	end if;
end
$body$;

-- Is that a JSON object? need_object() cannot say which of several texts is none.
create function readpast.is_object(headers text) returns boolean
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $body$
begin
	return json_typeof(headers::json) = 'object';
exception when data_exception then
	return false;
end
$body$;

-- At READ COMMITTED an enqueue locks nothing of its queue: what it puts into one that
-- is dropped meanwhile, the sweep takes into a new one (take_over()). A snapshot from
-- before the drop would not show it: hence, at the higher levels, a lock of the
-- queue's row that only a drop has to respect; 40001 if the row is gone.
create function readpast.keep_queue(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if current_setting('transaction_isolation') <> 'read committed' then
		perform 1 from readpast.queue q where q.name = queue for key share;
	end if;
end
$body$;

-- Jobs of one queue and one priority, arrays of the same length for the rest; the
-- largest payload's size. Nulls stand for the queue's settings. Answers the ids in
-- order, or nothing: no such queue, or a payload larger than it takes.
create function readpast.put(
	queue text, priority integer, delays_ms bigint[], run_ats bigint[],
	max_attempts bigint[], kinds text[], headers text[], payloads bytea[],
	largest bigint)
returns setof bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its    record;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	before bigint;
begin
	perform readpast.keep_queue(queue);
	select q.id, q.max_attempts,
	       readpast.lane_of(q.id, coalesce(put.priority, q.priority), 2)
	       as lane_id,
	       put.priority is null or get_bit(q.opened, put.priority) = 1
	       as is_open,
	       q.asleep_until > moment as sleeps
	  into its
	  from readpast.queue q
	 where q.name = put.queue and put.largest <= q.max_payload;
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(h.headers::json)
		   from unnest(headers) as h(headers);
	end if;
	before := (select s.last_value from readpast.line s);
	return query
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload)
	select its.lane_id,
	       case when r.due is null or r.due <= moment
	            then nextval('readpast.line') end,
	       coalesce(greatest(r.due, moment), moment), moment, its.id,
	       coalesce(r.max_attempts, its.max_attempts), r.kind,
	       r.headers::json, r.payload
	  from (select n.max_attempts, n.kind, n.headers, n.payload,
	               case when n.delay_ms > 0 or n.run_at > 0
	                    then greatest(moment + readpast.ms(n.delay_ms),
	                                  readpast.at_ms(n.run_at)) end as due
	          from unnest(delays_ms, run_ats, put.max_attempts, kinds,
	                      put.headers, payloads)
	               as n(delay_ms, run_at, max_attempts, kind, headers,
	                    payload)) r
	returning job.id;

	if not its.is_open then
		perform readpast.open_lane(its.lane_id);
	end if;
	if cardinality(payloads) > 1000 or not readpast.young() then
		perform readpast.note_late(its.lane_id, before);
	end if;
	if its.sleeps then
		perform readpast.wake(its.id);
	end if;
end
$body$;

-- One job without a unique key. Its id; null: no such queue, or the payload is
-- larger than it takes.
create function readpast.put_one(
	queue text, priority integer, delay_ms bigint, run_at timestamptz,
	max_attempts integer, kind text, headers json, payload bytea)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	its    record;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	due    timestamptz := greatest(moment + readpast.ms(delay_ms), run_at,
	                               moment);
	id     bigint;
begin
	perform readpast.keep_queue(queue);
	select q.id, coalesce(put_one.max_attempts, q.max_attempts) as attempts,
	       readpast.lane_of(q.id, coalesce(put_one.priority, q.priority), 2)
	       as lane_id,
	       put_one.priority is null or get_bit(q.opened, put_one.priority) = 1
	       as is_open,
	       q.asleep_until > moment as sleeps
	  into its
	  from readpast.queue q
	 where q.name = put_one.queue
	   and octet_length(put_one.payload) <= q.max_payload;
	if not found then
		return null;
	end if;
	if headers is not null then
		perform readpast.need_object(headers);
	end if;
	insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
	                          max_attempts, kind, headers, payload)
	values (its.lane_id,
	        case when due <= moment
	             then readpast.next_in_line(its.lane_id) end,
	        due, moment, its.id, its.attempts, put_one.kind,
	        put_one.headers, put_one.payload)
	returning job.id into id;

	if not its.is_open then
		perform readpast.open_lane(its.lane_id);
	end if;
	if its.sleeps then
		perform readpast.wake(its.id);
	end if;
	return id;
end
$body$;

-- The same for a job of which nothing else is said, as of most, where all workers
-- are busy: half the price. Each expression and each look at a table counts here;
-- what is rare is left to put_one(). At another level there is no moment, and nothing
-- is put in here.
create function readpast.put_plain(queue text, kind text, payload bytea)
returns bigint
language plpgsql volatile as $body$
declare
	moment timestamp with time zone :=
		case when pg_catalog.pg_current_xact_id() is not null
		          and pg_catalog.current_setting('transaction_isolation')
		              operator(pg_catalog.=) 'read committed'
		     then pg_catalog.clock_timestamp() end;
	its_id bigint;
begin
	insert into readpast.job (lane_id, run_at, created_at, queue_id,
	                          max_attempts, kind, payload)
	select q.lane_id, moment, moment, q.id, q.max_attempts, put_plain.kind,
	       put_plain.payload
	  from readpast.queue q
	 where q.name operator(pg_catalog.=) put_plain.queue
	   and pg_catalog.octet_length(put_plain.payload)
	       operator(pg_catalog.<=) q.max_payload
	   and q.asleep_until operator(pg_catalog.<=) moment
	returning job.id into its_id;
	if readpast.young() and its_id is not null then
		return its_id;
	elsif its_id is null then
		return readpast.put_one(queue, null, null, null, null, kind, null,
		                        payload);
	end if;
	perform readpast.note_late(j.lane_id, j.seq)
	   from readpast.job j
	  where j.id operator(pg_catalog.=) its_id;
	return its_id;
end
$body$;

-- One job with a unique key. If a live job of the queue has the key
-- it is answered instead; `replace` gives it the new job's content, unless it
-- runs. Its claim number moves on then, so that a holder whose lease ran out
-- cannot complete what it never saw.
-- A ready or scheduled job that is answered is not handed out before this
-- transaction is over: it runs after what else the transaction does. The lock stops
-- claims. It stops neither other enqueues of the key nor a verdict: only a running job
-- gets one. If somebody has the row locked the enqueue does not wait, but for a
-- `replace`, for up to 200 ms.
-- outcome: 0 added, 1 existed, 2 replaced. id null: no such queue, or the
-- payload is larger than it takes.
create function readpast.put_unique(
	queue text, payload bytea, priority integer, delay_ms bigint,
	run_at timestamptz, max_attempts integer, kind text, headers json,
	unique_key text, replace boolean,
	out id bigint, out outcome integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	its    record;
	idle   boolean;
	tries  integer := 0;
	xid    xid8 := pg_current_xact_id();
	moment timestamptz := clock_timestamp();
	due    timestamptz := greatest(moment + readpast.ms(delay_ms), run_at,
	                               moment);
begin
	perform readpast.keep_queue(queue);
	select q.id, coalesce(put_unique.max_attempts, q.max_attempts) as attempts,
	       readpast.lane_of(q.id, coalesce(put_unique.priority, q.priority), 2)
	       as lane_id
	  into its
	  from readpast.queue q
	 where q.name = put_unique.queue
	   and octet_length(put_unique.payload) <= q.max_payload;
	if not found then
		return;
	end if;
	if headers is not null then
		perform readpast.need_object(headers);
	end if;

	-- A job with the key may come between the statements: then once more.
	loop
		select j.id, j.lease_until is null into id, idle
		  from readpast.job j
		 where j.queue_id = its.id and j.unique_key = put_unique.unique_key;
		if found then
			while idle loop
				perform 1
				   from readpast.job j
				  where j.id = put_unique.id and j.lease_until is null
				    for key share skip locked;
				exit when found;
				-- A sweep has it locked for a moment, a claim for longer.
				tries := tries + 1;
				idle := replace and tries < 40;
				perform pg_sleep(0.005) where idle;
			end loop;
			exit;
		end if;
		insert into readpast.job (lane_id, seq, run_at, created_at, queue_id,
		                          max_attempts, unique_key, kind, headers,
		                          payload)
		values (its.lane_id,
		        case when due <= moment
		             then readpast.next_in_line(its.lane_id) end,
		        due, moment, its.id, its.attempts, put_unique.unique_key,
		        put_unique.kind, put_unique.headers, put_unique.payload)
		    on conflict (queue_id, unique_key) where unique_key is not null
		    do nothing
		returning job.id into id;
		if found then
			outcome := 0;
			exit;
		end if;
	end loop;

	if outcome is null then
		outcome := 1;
		if replace and idle then
			update readpast.job j
			   set lane_id = its.lane_id,
			       -- In line in the same lane it keeps its place.
			       seq = case when due <= moment
			                  then coalesce(
			                           case when j.lane_id = its.lane_id
			                                then j.seq end,
			                           readpast.next_in_line(its.lane_id))
			             end,
			       run_at = due,
			       claim_no = j.claim_no + 1,
			       attempt = 0,
			       lost = 0,
			       max_attempts = its.attempts,
			       worker_id = null,
			       last_error = null,
			       failures = null,
			       kind = put_unique.kind,
			       headers = put_unique.headers,
			       payload = put_unique.payload
			 where j.id = put_unique.id and j.lease_until is null;
			if found then
				outcome := 2;
			end if;
		end if;
	end if;

	if outcome <> 1 then
		perform readpast.open_lane(its.lane_id);
		perform readpast.wake(its.id);
	end if;
end
$body$;

-- ---- for people and programs in any language ----

-- Put a job into a queue, which is created if need be; answers its id, or that
-- of the live job that has the unique key already.
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

create function readpast.enqueue(
	queue text, payload text, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false)
returns bigint
language sql volatile as $body$
select readpast.enqueue(queue, pg_catalog.convert_to(payload, 'UTF8'), priority,
                        delay, run_at, max_attempts, kind, headers, unique_key,
                        replace)
$body$;

create function readpast.enqueue(
	queue text, payload jsonb, priority integer default null,
	delay interval default null, run_at timestamptz default null,
	max_attempts integer default null, kind text default null,
	headers jsonb default null, unique_key text default null,
	replace boolean default false)
returns bigint
language sql volatile as $body$
select readpast.enqueue(queue, 
                        pg_catalog.convert_to(payload::pg_catalog.text, 'UTF8'),
                        priority, delay, run_at, max_attempts, kind, headers,
                        unique_key, replace)
$body$;

-- Many jobs of one priority at once; answers their ids in order. Arrays that
-- are given have as many elements as there are payloads.
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

create function readpast.enqueue_many(
	queue text, payloads text[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null)
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
           priority, delays, max_attempts, kinds, headers)
$body$;

create function readpast.enqueue_many(
	queue text, payloads jsonb[], priority integer default null,
	delays interval[] default null, max_attempts integer default null,
	kinds text[] default null, headers jsonb[] default null)
returns setof bigint
language sql volatile as $body$
select readpast.enqueue_many(queue, payloads::pg_catalog.text[], priority,
                             delays, max_attempts, kinds, headers)
$body$;
