-- settle_and_claim: settle finished jobs, then claim others, in one round trip and one
-- commit. These are two statements, in this order: as a single statement, two workers
-- could wait for each other's rows.
--
-- Settling: the arrays ids, claim_nos, verdicts, delays_ms, errors, results and
-- progresses, of one length, as settle() takes them.
-- Claiming: up to `most` jobs of the queues, the first queue preferred, leased for
-- lease_ms (null: each queue's own lease). worker_id 0 is a client that is no worker; if
-- it gives a worker_name it is registered as one. `at_once` of the jobs are started at
-- once and the others fetched ahead (null: all are started); `holding`: how many jobs
-- the worker holds already. A suspect may have killed its worker, so it is handed out
-- alone, to a worker that holds nothing. joined: is this call part of a transaction that
-- may stay open? If null: assume yes, unless the call is the whole transaction.
--
-- Rows: `number` tells what a row is.
-- 1 and more: the verdict at this place of the arrays, if it was not simply accepted as
--   done; result and state as in settle().
-- 0: `result` verdicts on jobs of one queue were simply accepted as done.
-- null: a claimed job. The jobs of a queue follow each other; sort them by lane_id and
--   seq. A row without an id stands for a suspect that was passed over.
-- RP003: an argument is wrong; 25001: a claim above READ COMMITTED, where it could lease
-- rows whose newest version it does not see.
--
-- A claim that got as many jobs as it asked for wakes the next waiter; a busy worker does
-- so only when it moves a cursor. The settings fix the plans: a claim uses the indexes
-- whatever the statistics say.
--
-- Locks: those of settle(); the rows of the claimed jobs, for update, where it skips
-- rows that others have locked; those of wake() and worker_named(). A claim is a
-- compare-and-set: the update repeats the condition; locks and cursors only make
-- it fast.

create function readpast.settle_and_claim(
	queues text[], lease_ms bigint default null, worker_id bigint default 0,
	worker_name text default null, most integer default 0,
	at_once integer default null, holding integer default 0,
	ids bigint[] default '{}', claim_nos bigint[] default '{}',
	verdicts bigint[] default null, delays_ms bigint[] default null,
	errors text[] default null, results bytea[] default null,
	progresses text[] default null, joined boolean default null)
returns table (
	number bigint, result integer, state integer, queue_id integer,
	queue text, lane_id bigint, seq bigint, suspect boolean, id bigint,
	claim_no bigint, payload bytea, kind text, headers text, priority integer,
	attempt integer, max_attempts integer, lease_until timestamptz,
	run_at timestamptz, created_at timestamptz, unique_key text,
	last_error text, failures text, keep_ms bigint, timeout_ms bigint,
	expire_at timestamptz, backoff text, unique_for_ms bigint,
	progress text)
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
	its   record;
	got   record;
	n     integer;
	taken integer := 0;
	alone boolean := coalesce(joined, now() <> statement_timestamp());
begin
	if readpast.is_round_trip(queues, lease_ms, worker_id, most, at_once,
	                          holding, ids, claim_nos) is not true then
		perform readpast.refuse_round_trip(lease_ms, worker_id, ids);
	elsif worker_id = 0 and worker_name is not null then
		worker_id := readpast.worker_named(worker_name, queues);
	end if;
	if ids <> '{}' then
		for number, result, state, queue_id in
			select * from readpast.settle(ids, claim_nos, verdicts, delays_ms,
			                              errors, results, progresses) loop
			return next;
		end loop;
	end if;
	if most > 0 and current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.need_read_committed('a claim');
	end if;
	number := null;
	foreach queue in array case when most > 0 then queues else '{}' end loop
		select q.id, q.timeout_ms,
		       readpast.ms(coalesce(settle_and_claim.lease_ms, q.lease_ms)) as lease
		  into its from readpast.queue q
		 where q.name = settle_and_claim.queue and q.paused_at is null;
		continue when not found;
		got := readpast.lock_queue(its.id, most - taken, at_once - taken, holding,
		                           taken, its.lease, alone);
		suspect := true; -- for the rows without an id: suspects that were passed over
		for passed_over in 1 .. got.passed_over loop
			return next;
		end loop;
		return query
		update readpast.job j
		   set lease_until = got.lease_until,
		       claim_no = greatest(j.claim_no + 1, got.claim_no),
		       attempt = j.attempt + 1, worker_id = settle_and_claim.worker_id
		 where j.ctid = any (got.places) and j.lease_until is null
		returning null::bigint, null::integer, null::integer, j.queue_id,
		          settle_and_claim.queue, j.lane_id, j.seq,
		          readpast.class_of(j.lane_id) = 1, j.id, j.claim_no, j.payload, j.kind,
		          j.headers::text, readpast.priority_of(j.lane_id), j.attempt,
		          j.max_attempts, j.lease_until, j.run_at, j.created_at, j.unique_key,
		          j.last_error, j.failures::text, j.keep_ms,
		          coalesce(j.timeout_ms, its.timeout_ms), j.expire_at,
		          j.backoff::text, j.unique_for_ms, j.progress;
		get diagnostics n = row_count;
		taken := taken + n;
		if taken >= most and (got.moved or ids = '{}') then
			perform readpast.wake(its.id, worker_id);
		end if;
		exit when got.last;
	end loop;
end
$body$;
