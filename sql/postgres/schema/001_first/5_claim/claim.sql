-- claim: Lease up to n jobs. Each is yours for as long as the lease: name its
-- id and claim_no in complete(), fail(), release() or extend().

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
	-- Each job takes its columns from the last head row in front of it. They grow
	-- from one head to the next, so max() finds the last.
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
