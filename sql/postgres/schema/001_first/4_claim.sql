-- Schema 1: the turn, which settles and claims; and claim.
--
-- For each lane of a queue, in order: lock the next rows in line that nobody
-- else has locked, and lease them. A claim is a compare-and-set: the update
-- repeats the condition, and the locks and the marks only make it fast.
--
-- It works at READ COMMITTED only: at the higher levels it would lease what it
-- cannot see. The settings of the routine keep its plan: whatever the
-- statistics say, it walks the line from the head.

-- What a worker does all day: settle what is finished (settle() says how), and
-- then claim what will be started, in one commit. Two statements in this order:
-- in one, two workers would wait for each other's rows.
-- A client that is no worker (worker_id 0) may have a name.
-- Lease up to `most` jobs of the queues, the first one preferred. `at_once`:
-- so many are started at once, the rest is fetched ahead; a job with a single
-- attempt never is, for a worker that dies before it starts the job would have
-- used that attempt up. `holding`: jobs the worker has already. A suspect may be
-- what killed its worker: it goes out alone, to a worker that holds nothing. One
-- that was passed over for that is answered as a row with no id.
-- Answers the rows of settle(), and then the jobs, whose `number` is null. Most
-- of what a claim costs is to hand out its rows: so they say only what the caller
-- does not know. queue null: the first; attempt null: 1; run_at null: created_at;
-- suspect null: no. It was claimed claim_no microseconds after 1970.
create function readpast.turn(
	queues text[], lease_ms bigint default null, worker_id bigint default 0,
	worker_name text default null, most integer default 0,
	at_once integer default null, holding integer default 0,
	ids bigint[] default '{}', claim_nos bigint[] default '{}',
	verdicts bigint[] default null, delays_ms bigint[] default null,
	errors text[] default null)
returns table (
	number bigint, result integer, settled integer, queue_id integer,
	id bigint, queue text, priority integer, attempt integer,
	max_attempts integer, claim_no bigint, run_at timestamptz,
	created_at timestamptz, lease_until timestamptz,
	unique_key text, kind text, headers text, payload bytea, last_error text,
	failures text, suspect boolean)
language plpgsql volatile
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	called text;
	its_id integer; -- and not records: they are dearer
	lease  bigint;
	sleeps boolean;
	lane   bigint;
	head   bigint;
	newest bigint;
	marked timestamptz;
	suspects boolean;
	places tid[];
	first  bigint;
	attempts integer[];
	ahead  integer;
	wanted integer;
	taken  integer := 0;
	n      integer;
	alone  boolean := false;
	moment timestamptz;
	until  timestamptz;
	micros bigint;
begin
	-- In one look: each expression is made ready anew in each transaction.
	if (most between 0 and 100000 and (most = 0 or queues is not null)
	    and coalesce(at_once, 0) >= 0 and holding >= 0 and worker_id >= 0
	    and coalesce(lease_ms, 1) between 1 and 315360000000
	    and cardinality(claim_nos) = cardinality(ids)
	    and (verdicts is null
	         or readpast.are_bad_verdicts(ids, claim_nos, verdicts, delays_ms,
	                                      errors) is not true)) is not true
	then
		if lease_ms not between 1 and 315360000000 then
			raise exception 'the lease is not within 1 ms..3650 days'
				using errcode = 'RP003';
		elsif worker_id >= 0 is not true then
			raise exception 'worker_id is null, or less than 0'
				using errcode = 'RP003';
		elsif ids = '{}' then
			raise exception 'a claim needs queues, and numbers within 0..100000'
				using errcode = 'RP003';
		end if;
		raise exception 'ids, claim_nos and what else is given for them are of '
			'one length; verdicts within 0..4, delays within 0..3650 days'
			using errcode = 'RP003';
	end if;
	if worker_id = 0 and worker_name is not null then
		worker_id := readpast.worker_named(worker_name, queues);
	end if;
	if cardinality(ids) > 0 then
		for number, result, settled, queue_id in
			select s.number, s.result, s.state, s.queue_id
			  from readpast.settle(ids, claim_nos, verdicts, delays_ms,
			                       errors) s
		loop
			return next;
		end loop;
	end if;
	if most = 0 then
		return;
	end if;
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.need_read_committed('a claim');
	end if;
	at_once := coalesce(at_once, most);
	foreach called in array queues loop
		select q.id, coalesce(turn.lease_ms, q.lease_ms),
		       exists (select 1 from readpast.sleeper s
		                where s.queue_id = q.id
		                  and s.until > clock_timestamp())
		  into its_id, lease, sleeps
		  from readpast.queue q
		 where q.name = called and q.paused_at is null;
		continue when not found;

		for lane, suspects, head, newest, marked in
			select l.lane_id, l.lane_id % 4 = 1, coalesce(h.head, 0),
			       coalesce(m.head, 0), coalesce(m.made_at, '-infinity')
			  from (select distinct l.lane_id
			          from readpast.lane l
			         where l.lane_id between its_id::bigint * 1024
			                             and its_id::bigint * 1024 + 1023) l
			  left join lateral readpast.settled_mark(l.lane_id) h on true
			  left join lateral (select m.head, m.made_at
			                       from readpast.mark m
			                      where m.lane_id = l.lane_id
			                      order by m.lane_id desc, m.head desc
			                      limit 1) m on true
			 order by l.lane_id
		loop
			wanted := most - taken;
			if suspects then
				if holding > 0 or taken > 0 then
					return query
					select null::bigint, null::integer, null::integer,
					       null::integer, null::bigint, called, null::integer,
					       null::integer, null::integer, null::bigint,
					       null::timestamptz, null::timestamptz,
					       null::timestamptz, null::text, null::text, null::text,
					       null::bytea, null::text, null::text, true
					  from readpast.job j
					 where j.lane_id = lane and j.seq >= head
					   and j.lease_until is null
					 limit wanted;
					get diagnostics n = row_count;
					exit when n > 0 and holding = 0;
					continue;
				end if;
				wanted := 1;
			end if;

			select array_agg(r.place), min(r.seq), array_agg(r.max_attempts)
			  into places, first, attempts
			  from (select j.ctid as place, j.seq, j.max_attempts
			          from readpast.job j
			         where j.lane_id = lane
			           and j.seq >= head
			           and j.lease_until is null
			         order by j.lane_id, j.seq
			         limit wanted
			           for update skip locked) r;
			continue when places is null;
			ahead := array_position(attempts, 1,
			                        greatest(at_once - taken, 0) + 1);
			if ahead is not null then
				places := places[:ahead - 1];
			end if;

			moment := clock_timestamp();
			until := moment + readpast.ms(lease);
			micros := extract(epoch from moment) * 1000000;
			return query
			update readpast.job j
			   set lease_until = until,
			       claim_no = greatest(j.claim_no + 1, micros),
			       attempt = j.attempt + 1,
			       worker_id = turn.worker_id
			  from unnest(places) as p(place)
			 where j.ctid = p.place and j.lease_until is null
			returning null::bigint, null::integer, null::integer,
			          null::integer, j.id, nullif(called, queues[1]),
			          readpast.priority_of(j.lane_id), nullif(j.attempt, 1),
			          j.max_attempts, j.claim_no,
			          nullif(j.run_at, j.created_at), j.created_at, until,
			          j.unique_key, j.kind, j.headers::text, j.payload,
			          j.last_error, j.failures::text,
			          nullif(suspects, false);
			get diagnostics n = row_count;
			taken := taken + n;
			alone := suspects and n > 0;

			-- Claims will start here. A transaction that may be open for
			-- long says nothing: others would see it when it is no longer so.
			-- One that is this statement alone does, however long the claim
			-- took: or all that follow would take as long.
			if n > 0 and first > newest
			   and (readpast.young() or now() = statement_timestamp())
			   and (first - newest >= 1000
			        or marked < moment - interval '100 milliseconds')
			then
				insert into readpast.mark (lane_id, head, made_at)
				values (lane, first, moment);
			end if;
			exit when taken >= most or alone or ahead is not null;
		end loop;
		exit when taken >= most or alone;
	end loop;
	if sleeps and taken > 0 and taken >= most then
		perform readpast.wake(its_id, turn.worker_id);
	end if;
end
$body$;

-- ---- for people and programs in any language ----

-- A client in SQL that gives itself a name is a worker, too: it is listed, and
-- jobs say who has them. What it claims is its sign of life. Its id.
create function readpast.worker_named(worker text, queues text[])
returns bigint
language plpgsql volatile as $body$
declare
	moment timestamptz := clock_timestamp();
	it record;
begin
	if readpast.is_bad_name(worker, 255) then
		raise exception 'the worker''s name is not 1..255 bytes without '
			'control characters' using errcode = 'RP003';
	end if;
	select w.id, w.seen_at, w.queues ?& worker_named.queues as known into it
	  from readpast.worker w
	 where w.name = worker and w.host = '' and w.stopped_at is null
	 order by w.id desc
	 limit 1;
	if not found then
		insert into readpast.worker
		       (name, host, pid, queues, kinds, started_at, seen_at)
		values (worker, '', 0, to_jsonb(queues),
		        to_jsonb(array(select q || '/' from unnest(queues) q)), moment,
		        moment)
		returning id into it;
	elsif not it.known or it.seen_at < moment - interval '5 seconds' then
		update readpast.worker w
		   set seen_at = moment,
		       (queues, kinds) = (
		           select jsonb_agg(q.name order by q.name),
		                  jsonb_agg(q.name || '/' order by q.name)
		             from (select jsonb_array_elements_text(w.queues)
		                   union
		                   select unnest(worker_named.queues)) q(name))
		 where w.ctid = (select w.ctid from readpast.worker w
		                  where w.id = it.id for update skip locked);
	end if;
	return it.id;
end
$body$;

-- Lease up to n jobs. Each is yours for as long as the lease: name its id and
-- claim_no in complete(), fail(), release() or extend().
create function readpast.claim(
	queue text, n integer default 1, lease interval default null,
	worker text default null, worker_id bigint default 0)
returns table (
	id bigint, claim_no bigint, payload bytea, kind text, headers json,
	priority integer, attempt integer, max_attempts integer,
	lease_until timestamptz, run_at timestamptz, created_at timestamptz,
	unique_key text, last_error text, failures jsonb)
language plpgsql volatile as $body$
#variable_conflict use_column
begin
	if queue is null then
		raise exception 'the queue is null' using errcode = 'RP003';
	elsif n is null or n not between 1 and 100000 then
		raise exception 'n is not within 1..100000' using errcode = 'RP003';
	elsif readpast.is_bad_lease(lease) then
		raise exception 'the lease is not within 1 ms..3650 days'
			using errcode = 'RP003';
	elsif worker_id is null then
		raise exception 'worker_id is null' using errcode = 'RP003';
	elsif worker_id = 0 and worker is not null then
		worker_id := readpast.worker_named(worker, array[queue]);
	end if;
	return query
	select t.id, t.claim_no, t.payload, t.kind, t.headers::json, t.priority,
	       coalesce(t.attempt, 1), t.max_attempts, t.lease_until,
	       coalesce(t.run_at, t.created_at), t.created_at,
	       t.unique_key, t.last_error, t.failures::jsonb
	  from readpast.turn(array[claim.queue], readpast.to_ms(lease),
	                     claim.worker_id, worker, n) t
	 where t.id is not null;
end
$body$;
