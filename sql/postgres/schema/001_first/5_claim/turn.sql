-- turn: settle what is finished, as settle() says, then claim what will be started, in
-- one commit: what a worker does all day. That is two statements, in this order: in one,
-- two workers would wait for each other's rows.
--
-- Claims up to `most` jobs of the queues, the first one preferred. For each lane, in
-- order: lock the next rows in line that nobody else has locked, and lease them. A claim
-- is a compare-and-set: the update repeats the condition, and locks and marks only make
-- it fast. It works at READ COMMITTED only: above, it would lease what it cannot see. The
-- settings hold its plan: whatever the statistics say, it walks the line from the head.
--
-- worker_id 0 is a client that is no worker; it may have a name. at_once: so many jobs
-- are started at once, and the rest is fetched ahead. A job with a single attempt is
-- never fetched ahead, for a worker that dies before it starts the job would have used
-- that attempt up; nor is one with a payload over 1 MiB, for a worker would hold many
-- times the memory that it works with. holding: jobs that the worker has already. A
-- suspect may be what killed its worker: it goes out alone, to a worker that holds
-- nothing. joined: is this part of a transaction that may stay open? Null: yes, unless
-- this statement is the whole transaction.
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
