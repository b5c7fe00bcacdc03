-- hold_verdict: hold the group or the queue of a claimed job, and then settle the job.
-- Because the hold comes first, the slot that the job frees goes to no other job of the
-- held group.
-- id, claim_no, verdict, delay, error: see verdict().
-- hold: 'group' or 'queue'. If 'group' and the job has no group, nothing is held.
-- hold_for: how long the hold lasts.
-- Result: the job's new state, as a word. SQLSTATE RP001, RP002, RP003, RP005: see
-- verdict().
-- Locks: the rows that hold_of() and verdict() lock.

create function readpast.hold_verdict(
	id bigint, claim_no bigint, verdict integer, delay interval, error text,
	hold text, hold_for interval)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if (hold in ('group', 'queue')) is not true then
		raise exception 'hold must be group or queue' using errcode = 'RP003';
	elsif hold_for is null or readpast.is_bad_lease(hold_for) then
		raise exception 'hold_for is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	end if;
	perform readpast.hold_of(id, claim_no, hold = 'queue', readpast.to_ms(hold_for));
	return readpast.verdict(id, claim_no, verdict, delay, error);
end
$body$;
