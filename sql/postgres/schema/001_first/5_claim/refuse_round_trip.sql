-- refuse_round_trip: raise an error that says which argument of settle_and_claim() is
-- wrong. The caller has found that at least one argument is wrong. The routine checks
-- lease_ms and worker_id. If both are right, the error depends on whether the call has
-- verdicts. If `ids` is empty, the error says which values a claim needs. If `ids` is
-- not empty, the error says that the arrays of verdicts are wrong.
-- lease_ms, worker_id, ids: arguments of settle_and_claim().
-- Result: none, because the routine always raises an error with SQLSTATE RP003.
-- Locks: none.

create function readpast.refuse_round_trip(lease_ms bigint, worker_id bigint,
                                           ids bigint[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	if lease_ms not between 1 and :most_ms then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	elsif worker_id >= 0 is not true then
		raise exception 'worker_id is null or less than 0'
			using errcode = 'RP003';
	elsif ids = '{}' then
		raise exception 'a claim needs queues; the argument most must be within '
			'0..:most_claimed, and at_once and holding at least 0'
			using errcode = 'RP003';
	end if;
	raise exception 'ids, claim_nos and the other arrays must have the same '
		'length, verdicts must be within 0..4, and delays within '
		'0..:most_days days'
		using errcode = 'RP003';
end
$body$;
