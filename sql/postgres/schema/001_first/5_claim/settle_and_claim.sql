-- settle_and_claim: settle jobs (apply verdicts, the reports of a worker), then claim
-- other jobs, in one round trip and one commit. The routine settles in one statement
-- and claims in a later one. If one statement did both, two workers could wait for
-- each other's rows.
-- Parameters of the claim: queues .. holding.
-- queues: claim from these queues. The jobs of an earlier queue are claimed first.
-- lease_ms: the length of the leases. Null: the lease of each queue.
-- worker_id: the worker. 0: the client is not a worker.
-- worker_name: if not null and worker_id is 0, the client is registered as a worker
-- under this name.
-- most: claim up to this number of jobs. 0: claim nothing.
-- at_once: how many of the claimed jobs the worker can start immediately. The worker
-- prefetches the other jobs (claims them early). Null: it starts all of them.
-- holding: how many jobs the worker holds already. A suspect (a job that may have
-- killed its worker) is handed out alone, and only to a worker that holds no other job.
-- ids .. progresses: the verdicts to settle, see settle().
-- joined: true if this transaction may stay open. May be null, see stays_open().
-- Rows: `number` says what a row is.
--   1 and more: the row is about the verdict at this position of the arrays. `result`
--     and `state` are those of settle(). Verdicts that were accepted as done have no
--     such row.
--   0: the row counts, in `result`, the jobs of one queue that were accepted as done.
--   null: the row is a claimed job. Its `extra` has the rarely used fields. If the job
--     has no time-out of its own, `extra` has the queue's time-out. The jobs of one
--     queue follow each other, and the caller sorts them by lane_id and seq. If the id
--     is null as well, the row stands for a suspect that this call has not claimed.
-- SQLSTATE RP003: an argument is wrong. SQLSTATE 25001: the call claims jobs, and the
-- transaction is above READ COMMITTED, where a claim might not see the newest version
-- of a row.
-- If a claim gets `most` jobs, more jobs may be ready. Then the call notifies a waiter
-- of the queue (a worker that waits for a notification). But calls that also settle
-- verdicts come from busy workers and are frequent. Such a call notifies only if its
-- claim appended a cursor, which happens about once in cursor_every().
-- The settings below make each claim use the indexes, whatever the statistics say.
-- Locks: the rows of the settled jobs, and the rows of the claimed jobs for update. A
-- claim skips rows that other transactions have locked. The call also locks a row of
-- `waiter` or `worker`, unless another transaction has locked that row. No job is
-- claimed twice even without the locks, because the update that claims a job repeats
-- the condition that the job is not running.

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
	last_error text, failures text, group_key text,
	extra readpast.extra)
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
begin
	joined := readpast.stays_open(joined);
	if readpast.is_round_trip(queues, lease_ms, worker_id, most, at_once,
	                          holding, ids, claim_nos) is not true then
		perform readpast.refuse_round_trip(lease_ms, worker_id, ids);
	elsif worker_id = 0 and worker_name is not null then
		worker_id := readpast.worker_named(worker_name, queues);
	end if;
	if ids <> '{}' then
		for number, result, state, queue_id in
			select * from readpast.settle(ids, claim_nos, verdicts, delays_ms, errors,
			                              results, progresses, joined) loop
			return next;
		end loop;
	end if;
	if most > 0 and current_setting('transaction_isolation') <> 'read committed' then
		perform readpast.need_read_committed('a claim');
	end if;
	number := null;
	foreach queue in array case when most > 0 then queues else '{}' end loop
		select q.id, q.timeout_ms, readpast.is_limited(q) as is_limited,
		       readpast.ms(coalesce(settle_and_claim.lease_ms, q.lease_ms)) as lease
		  into its from readpast.queue q
		 where q.name = settle_and_claim.queue and q.paused_at is null
		   and (q.held_until is null or q.held_until <= clock_timestamp());
		continue when not found;
		got := readpast.lock_queue(its.id, most - taken, at_once - taken, holding,
		                           taken, its.lease, joined, its.is_limited);
		suspect := true; -- each of these rows is a suspect that was passed over
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
		          j.last_error, j.failures::text, j.group_key,
		          case when its.timeout_ms > 0 then readpast.with_timeout(j.extra, its.timeout_ms)
		               else j.extra end;
		get diagnostics n = row_count;
		taken := taken + n;
		if taken >= most and (got.moved or ids = '{}') then
			perform readpast.wake(its.id, worker_id);
		end if;
		exit when got.last;
	end loop;
end
$body$;
