-- verdict: settle one job, or raise an error that says why the verdict was refused.
-- id, claim_no: the values that claim() returned.
-- verdict: 0 done, 1 fail, 2 dead, 3 release, 4 extend.
-- delay: how long a failed or released job waits, or the length of an extended lease.
-- Null: the default, see delays_ms of settle().
-- error, result, progress: what the worker reports, see settle(). Each may be null.
-- Result: the job's new state, as a word. SQLSTATE RP001: this claim no longer has the
-- job. SQLSTATE RP002: the job was cancelled. SQLSTATE RP003: an argument is wrong.
-- SQLSTATE RP004: the result or the progress is too large. SQLSTATE RP005: there is no
-- such job.
-- Locks: the job's row. If the job is ready and a worker waits, the call also locks a
-- row of `waiter`. If the job is done and keeps its unique key, the call locks a row of
-- `taken_key`. If the job dies, the call locks the rows that put_dead() locks. If the
-- job has a group, the call also locks the rows that leave_group(), keep_place() or
-- end_attempt() locks.

create function readpast.verdict(
	id bigint, claim_no bigint, verdict integer, delay interval, error text,
	result bytea default null, progress text default null)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	it record;
begin
	if id is null or claim_no is null then
		raise exception 'a verdict needs a job''s id and its claim_no'
			using errcode = 'RP003';
	elsif verdict = 4 and readpast.is_bad_lease(delay) then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	elsif readpast.is_bad_delay(delay) then
		raise exception 'the delay is not within 0..:most_days days'
			using errcode = 'RP003';
	end if;
	select t.result, t.state, t.queue_id into it
	  from readpast.settle_and_claim(
	           null, ids => array[id], claim_nos => array[claim_no],
	           verdicts => array[verdict::bigint],
	           delays_ms => array[readpast.to_ms(delay)],
	           errors => array[left(error, :most_error)],
	           results => case when result is not null then array[result] end,
	           progresses => case when progress is not null
	                              then array[progress] end) t;
	if it.result = -5 then
		raise exception 'job % is no longer yours', id using errcode = 'RP001';
	elsif it.result = -8 then
		raise exception 'job % was cancelled', id using errcode = 'RP002';
	elsif it.result = -9 then
		raise exception 'no job has the id %', id using errcode = 'RP005';
	elsif verdict = 0 then
		perform readpast.count_ended(it.queue_id, 1, 0);
	elsif verdict < 3 then
		perform readpast.count_ended(it.queue_id, 0, 1);
	end if;
	return readpast.state_word(it.state);
end
$body$;
