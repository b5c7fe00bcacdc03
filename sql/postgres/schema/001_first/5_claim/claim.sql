-- claim: lease up to n jobs. The caller holds each of them until its lease ends, and
-- passes its id and claim_no to complete(), fail(), release() or extend().
-- queue: its name; lease: null stands for the queue's; worker: a name under which
-- the caller is registered as a worker; worker_id: that of a worker that is
-- registered already (0: none).
-- Rows: the jobs in the order of the queue, each with the progress that earlier attempts
-- reported; fewer than n if no more are ready,
-- one if it is a suspect. RP003: an argument is wrong.
-- Locks: those of settle_and_claim().

create function readpast.claim(
	queue text, n integer default 1, lease interval default null,
	worker text default null, worker_id bigint default 0)
returns table (
	id bigint, claim_no bigint, payload bytea, kind text, headers json,
	priority integer, attempt integer, max_attempts integer,
	lease_until timestamptz, run_at timestamptz, created_at timestamptz,
	unique_key text, last_error text, failures jsonb, keep_ms bigint,
	timeout_ms bigint, expire_at timestamptz, backoff json,
	unique_for_ms bigint,
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
	       c.unique_key, c.last_error, c.failures::jsonb, c.keep_ms,
	       nullif(c.timeout_ms, 0), c.expire_at, c.backoff::json,
	       c.unique_for_ms, c.progress
	  from readpast.settle_and_claim(array[claim.queue], readpast.to_ms(lease),
	                                 claim.worker_id, worker, n) c
	 where c.id is not null
	 order by c.lane_id, c.seq;
end
$body$;
