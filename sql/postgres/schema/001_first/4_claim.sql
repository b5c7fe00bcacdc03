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
-- used that attempt up; nor is one with a payload over 1 MiB, for a worker would
-- hold many times the memory that it works with. `holding`: jobs the worker has already. A suspect may be
-- what killed its worker: it goes out alone, to a worker that holds nothing.
-- `joined`: is this part of a transaction that may stay open? Where nobody says
-- so, what is no statement of psql's alone may be.
--
-- Most of what a turn costs is to hand out its rows: so they say once what is
-- the same for many, and nothing that the caller knows. By `number`:
-- >= 1: that verdict's result, the state it left the job in, its queue, as
--   settle() says.
-- 0: a head. If it has a `result`, so many verdicts of one queue have no row of
--   their own: they are done. If it has a `lane_id`, jobs of that lane follow.
-- null: a job; or, without an id, a suspect that was passed over. What is null
--   in max_attempts and claim_no is as the head says, an attempt is 1, run_at is
--   created_at. The jobs of one head are in line by `seq`, and come in any order.
create function readpast.turn(
	queues text[], lease_ms bigint default null, worker_id bigint default 0,
	worker_name text default null, most integer default 0,
	at_once integer default null, holding integer default 0,
	ids bigint[] default '{}', claim_nos bigint[] default '{}',
	verdicts bigint[] default null, delays_ms bigint[] default null,
	errors text[] default null, joined boolean default null)
returns table (
	number bigint, result integer, settled integer, queue_id integer,
	queue text, lane_id bigint, lease_until timestamptz,
	max_attempts integer, claim_no bigint, id bigint, seq bigint,
	attempt integer, run_at timestamptz, created_at timestamptz,
	unique_key text, kind text, headers text, payload bytea, last_error text,
	failures text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	gone   bigint[];
	their_queues integer[];
	seqs   bigint[];
	its_id integer; -- and not records: they are dearer
	lease  interval;
	head   bigint;
	newest bigint;
	is_new boolean;
	decided bigint;
	drawn  bigint;
	suspects boolean;
	places tid[];
	taken  integer := 0;
	settles boolean := cardinality(ids) > 0;
	marked boolean;
	n      integer;
begin
	-- In one look: each expression is made ready anew in each transaction.
	if (most between 0 and :most_claimed and (most = 0 or queues is not null)
	    and coalesce(at_once, 0) >= 0 and holding >= 0 and worker_id >= 0
	    and coalesce(lease_ms, 1) between 1 and :most_ms
	    and cardinality(claim_nos) = cardinality(ids)
	    and (verdicts is null
	         or readpast.are_bad_verdicts(ids, claim_nos, verdicts, delays_ms,
	                                      errors) is not true)) is not true
	then
		if lease_ms not between 1 and :most_ms then
			raise exception 'the lease is not within 1 ms..:most_days days'
				using errcode = 'RP003';
		elsif worker_id >= 0 is not true then
			raise exception 'worker_id is null, or less than 0'
				using errcode = 'RP003';
		elsif ids = '{}' then
			raise exception 'a claim needs queues, and numbers within 0..:most_claimed'
				using errcode = 'RP003';
		end if;
		raise exception 'ids, claim_nos and what else is given for them are of '
			'one length; verdicts within 0..4, delays within 0..:most_days days'
			using errcode = 'RP003';
	end if;
	if worker_id = 0 and worker_name is not null then
		worker_id := readpast.worker_named(worker_name, queues);
	end if;
	if settles then
		-- As a rule one claim's jobs are done together, and no queue keeps them.
		if verdicts is null and claim_nos[1] = all (claim_nos)
		   and current_setting('transaction_isolation') = 'read committed'
		then
			with gone as (
				delete from readpast.job j
				 where j.id = any (ids) and j.claim_no = claim_nos[1]
				   and j.worker_id is not null
				   and not exists (select 1 from readpast.queue q
				                    where q.keep_done_ms > 0)
				returning j.id, j.queue_id, j.seq)
			select 0::bigint, count(*)::integer, 4, (array_agg(g.queue_id))[1],
			       array_agg(g.queue_id), array_agg(g.id), array_agg(g.seq)
			  into number, result, settled, queue_id, their_queues, gone,
			       seqs
			  from gone g;
			if result >= 10 then
				perform readpast.note_ended(seqs);
			end if;
		end if;
		if (result = cardinality(ids)
		    and queue_id = all (their_queues)) is not true
		then
			for number, result, settled, queue_id in
				select s.number, s.result, s.state, s.queue_id
				  from readpast.settle(ids, claim_nos, verdicts, delays_ms,
				                       errors, gone, their_queues) s
			loop
				return next;
			end loop;
			number := 0;
			result := null;
		end if;
	end if;
	if most = 0 then
		if result is not null then
			return next;
		end if;
		return;
	end if;
	if current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.need_read_committed('a claim');
	end if;

	<<claims>>
	foreach queue in array queues loop
		-- Three small looks: as one join they are dearer.
		select q.id, q.id::bigint * 1024 - 1, q.max_attempts,
		       readpast.ms(coalesce(turn.lease_ms, q.lease_ms)),
		       coalesce(joined, now() <> statement_timestamp())
		  into its_id, lane_id, max_attempts, lease, joined
		  from readpast.queue q
		 where q.name = turn.queue and q.paused_at is null;
		continue when not found;
		loop
			select l.lane_id, l.lane_id % 4 = 1 into lane_id, suspects
			  from readpast.lane l
			 where l.lane_id > turn.lane_id
			   and l.lane_id < (its_id + 1)::bigint * 1024
			 order by l.lane_id
			 limit 1;
			exit when not found;
			select case when m.made_at > clock_timestamp()
			                             - interval '50 milliseconds'
			            then m.settled else m.head end,
			       m.head,
			       m.made_at > clock_timestamp() - interval '20 milliseconds',
			       case when m.made_at <= clock_timestamp()
			                              - interval '20 milliseconds'
			                 and m.next_xid <= pg_snapshot_xmin(
			                                       pg_current_snapshot())
			            then m.drawn else -1 end
			  into head, newest, is_new, decided
			  from readpast.mark m
			 where m.lane_id = turn.lane_id
			 order by m.lane_id desc, m.head desc
			 limit 1;
			if not found then
				head := 0;
				newest := 0;
				decided := -1;
			end if;
			if suspects and (holding > 0 or taken > 0) then
				return query
				select null::bigint, null::integer, null::integer,
				       null::integer, turn.queue, null::bigint,
				       null::timestamptz, null::integer, null::bigint,
				       null::bigint, null::bigint, null::integer,
				       null::timestamptz, null::timestamptz, null::text,
				       null::text, null::text, null::bytea, null::text,
				       null::text
				  from readpast.job j
				 where j.lane_id = turn.lane_id and j.seq >= head
				   and j.lease_until is null
				 limit most - taken;
				-- It goes out next, before all that follows in its queue.
				exit when found and holding = 0;
				continue;
			end if;

			n := case when suspects then 1 else most - taken end;
			places := case when joined
			               then readpast.lock_alone(turn.lane_id, head, n)
			               else readpast.lock_next(turn.lane_id, head, n) end;
			continue when places = '{}';
			if taken + cardinality(places) > at_once then
				n := cardinality(places);
				places := readpast.not_ahead(places, at_once - taken);
				if cardinality(places) < n then
					most := taken + cardinality(places);
				end if;
			end if;

			-- Claims will start here. A transaction that may be open for
			-- long says nothing: others would see it when it is no longer so.
			-- One that is this statement alone does, however long the claim
			-- took: or all that follow would take as long.
			if is_new is not true
			   and (not joined or readpast.young())
			then
				drawn := (select s.last_value from readpast.line s);
				insert into readpast.mark (lane_id, head, made_at, settled,
				                           drawn, next_xid)
				select turn.lane_id, j.seq, clock_timestamp(),
				       greatest(head, readpast.head_of(turn.lane_id),
				                least(j.seq, decided + 1)),
				       drawn, pg_snapshot_xmax(pg_current_snapshot())
				  from readpast.job j
				 where j.ctid = places[1] and j.seq > newest;
				marked := true;
			end if;

			claim_no := greatest(readpast.epoch_us(clock_timestamp()),
			                     claim_no + 1);
			lease_until := readpast.at_us(claim_no) + lease;
			number := 0;
			return next;
			return query
			update readpast.job j
			   set lease_until = turn.lease_until,
			       claim_no = greatest(j.claim_no + 1, turn.claim_no),
			       attempt = j.attempt + 1,
			       worker_id = turn.worker_id
			 where j.ctid = any (places) and j.lease_until is null
			returning null::bigint, null::integer, null::integer,
			          null::integer, null::text, null::bigint,
			          null::timestamptz,
			          nullif(j.max_attempts, turn.max_attempts),
			          nullif(j.claim_no, turn.claim_no), j.id, j.seq,
			          nullif(j.attempt, 1), nullif(j.run_at, j.created_at),
			          j.created_at, j.unique_key, j.kind, j.headers::text,
			          j.payload, j.last_error, j.failures::text;
			get diagnostics n = row_count;
			taken := taken + n;
			result := null;
			if readpast.is_short(lease_ms) then
				perform readpast.note_short(its_id);
			end if;

			exit claims when taken >= most or suspects;
		end loop;
	end loop;
	if result is not null then
		lane_id := null;
		return next;
	end if;
	-- Whoever gets all that it asked for wakes the next: one who is at work, no
	-- more often than it marks.
	if taken >= most and (marked or not settles) then
		perform readpast.wake(its_id, turn.worker_id);
	end if;
end
$body$;

-- A lease was asked for that is short, where the queue's may not be: said ahead, so
-- that it is said rarely, and without waiting for who says the same.
create function readpast.note_short(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	insert into readpast.short (queue_id, until)
	select note_short.queue_id, moment + interval '1 minute'
	 where not exists (select 1 from readpast.short s
	                    where s.queue_id = note_short.queue_id
	                      and s.until > moment + interval '30 seconds');
end
$body$;

-- The places of the next jobs in line that nobody has locked; they are locked.
create function readpast.lock_next(lane_id bigint, head bigint, most integer)
returns tid[]
language plpgsql volatile as $body$
begin
	return array(select j.ctid
	               from readpast.job j
	              where j.lane_id operator(pg_catalog.=) lock_next.lane_id
	                and j.seq operator(pg_catalog.>=) head
	                and j.lease_until is null
	              order by j.lane_id, j.seq
	              limit most
	                for update skip locked);
end
$body$;

-- The same for a transaction of somebody's, which may stay open for long. `skip
-- locked` locks also what it does not take: a row that was updated since the
-- statement began. Whoever holds that job would wait for us. So all locks are
-- given back, and what was found is locked alone; once more if some of it was
-- updated in between.
create function readpast.lock_alone(lane_id bigint, head bigint, most integer)
returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	found_at tid[];
	got      tid[];
begin
	begin
		found_at := readpast.lock_next(lane_id, head, most);
		raise exception using errcode = 'RP000';
	exception when sqlstate 'RP000' then
		null;
	end;
	loop
		begin
			got := array(select j.ctid
			               from readpast.job j
			              where j.ctid = any (found_at)
			                and j.lease_until is null
			                for update skip locked);
			exit when cardinality(got) = cardinality(found_at);
			raise exception using errcode = 'RP000';
		exception when sqlstate 'RP000' then
			found_at := array(select f.place
			                    from unnest(found_at) with ordinality
			                         as f(place, number)
			                   where f.place = any (got)
			                   order by f.number);
		end;
	end loop;
	return found_at;
end
$body$;

-- Of places in line, locked, those in front of the first job with a single
-- attempt, or a payload over 1 MiB, that would not be among the first `at_once`.
create function readpast.not_ahead(places tid[], at_once integer) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return places[:(select coalesce(min(array_position(places, j.ctid)) - 1,
	                                cardinality(places))
	                  from readpast.job j
	                 where j.ctid = any (places)
	                   and (j.max_attempts = 1
	                        or octet_length(j.payload) > :large_payload)
	                   and array_position(places, j.ctid) > at_once)];
end
$body$;

-- ---- for people and programs in any language ----

-- A client in SQL that gives itself a name is a worker, too: it is listed, and
-- jobs say who has them. What it claims is its sign of life. Its id.
create function readpast.worker_named(worker text, queues text[])
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	it record;
begin
	if readpast.is_bad_name(worker, :most_worker) then
		raise exception 'the worker''s name is not 1..:most_worker bytes without '
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
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
begin
	if queue is null then
		raise exception 'the queue is null' using errcode = 'RP003';
	elsif n is null or n not between 1 and :most_claimed then
		raise exception 'n is not within 1..:most_claimed' using errcode = 'RP003';
	elsif readpast.is_bad_lease(lease) then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	elsif worker_id is null then
		raise exception 'worker_id is null' using errcode = 'RP003';
	elsif worker_id = 0 and worker is not null then
		worker_id := readpast.worker_named(worker, array[queue]);
	end if;
	return query
	-- What the last head said: what it has grows from one head to the next.
	select t.id, coalesce(t.claim_no, t.its_claim_no), t.payload, t.kind,
	       t.headers::json, readpast.priority_of(t.its_lane),
	       coalesce(t.attempt, 1), coalesce(t.max_attempts, t.its_attempts),
	       t.its_lease, coalesce(t.run_at, t.created_at), t.created_at,
	       t.unique_key, t.last_error, t.failures::jsonb
	  from (select t.*, max(t.lane_id) over heads as its_lane,
	               max(t.lease_until) over heads as its_lease,
	               max(t.claim_no) filter (where t.number = 0) over heads
	               as its_claim_no,
	               max(t.max_attempts) filter (where t.number = 0) over heads
	               as its_attempts
	          from readpast.turn(array[claim.queue], readpast.to_ms(lease),
	                             claim.worker_id, worker, n) t
	        window heads as (rows unbounded preceding)) t
	 where t.id is not null
	 order by t.its_lane, t.seq;
end
$body$;
