-- claim: lease up to n jobs. The caller holds each job until the job's lease ends. To
-- report on a job or to extend its lease, the caller passes the job's id and claim_no
-- to complete(), fail(), release() or extend().
-- queue: the name of the queue.
-- n: claim at most this number of jobs.
-- lease: how long the leases are. Null: the queue's setting.
-- worker: a name under which the caller is registered as a worker, or null.
-- worker_id: the caller's id, if the caller is registered as a worker already.
-- Otherwise 0.
-- Rows: the jobs, in the order of the queue. There are fewer than n rows if fewer jobs
-- are ready. A suspect (a job that may have killed its worker) is returned alone, as
-- the only row. SQLSTATE RP003: an argument is wrong.
-- Locks: the rows of the claimed jobs, for update. Rows that other transactions have
-- locked are skipped. The call may also lock one row of `waiter` and one of `worker`.

create function readpast.claim(
	queue text, n integer default 1, lease interval default null,
	worker text default null, worker_id bigint default 0)
returns table (
	id bigint, claim_no bigint, payload bytea, kind text, headers json,
	priority integer, attempt integer, max_attempts integer,
	lease_until timestamptz, run_at timestamptz, created_at timestamptz,
	unique_key text, last_error text, failures jsonb, keep_ms bigint,
	timeout_ms bigint, expire_at timestamptz, backoff json,
	unique_for_ms bigint, group_key text,
	progress text)
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
	select c.id, c.claim_no, c.payload, c.kind, c.headers::json, c.priority,
	       c.attempt, c.max_attempts, c.lease_until, c.run_at, c.created_at,
	       c.unique_key, c.last_error, c.failures::jsonb,
	       (c.extra).keep_ms, (c.extra).timeout_ms, (c.extra).expire_at,
	       (c.extra).backoff, (c.extra).unique_for_ms, c.group_key,
	       (c.extra).progress
	  from readpast.settle_and_claim(array[claim.queue], readpast.to_ms(lease),
	                                 claim.worker_id, worker, n) c
	 where c.id is not null
	 order by c.lane_id, c.seq;
end
$body$;
