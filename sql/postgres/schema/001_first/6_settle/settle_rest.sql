-- settle_rest: apply the verdicts other than `done`. If a lease is over and the job was
-- not claimed again, the verdict is accepted. But an extension is refused if another job
-- may have started in its place, see may_run_again().
-- ids .. joined: the parameters of settle().
-- Rows: one for each verdict that is accepted. The row has the verdict's position in
-- the arrays, the new state of the job, and the job's queue.
-- Locks: if a worker waits, a row of `waiter`. For each job that dies, the rows that
-- put_away() and put_dead() lock. For each job of a group, those that leave_group(),
-- keep_place() and end_attempt() lock. settle_done() has locked the jobs' rows already.

create function readpast.settle_rest(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[], progresses text[], joined boolean)
returns table (number bigint, state integer, queue_id integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
	v record;
begin
	for v in
		select v.number, v.verdict, v.delay_ms, v.error, v.progress, j.id, j.queue_id,
		       j.lane_id, j.attempt, q.lease_ms, q.backoff_ms, q.backoff_max_ms,
		       (j.extra).backoff, q.dead_to,
		       q.group_limit > 0 or q.holds_until is not null
		       or q.held_until is not null as may_wait,
		       j.came is not null as waits,
		       v.verdict = 2
		       or v.verdict = 1 and j.attempt >= j.max_attempts as dies
		  from unnest(ids, claim_nos, verdicts, delays_ms, errors,
		              progresses) with ordinality
		       as v(id, claim_no, verdict, delay_ms, error, progress, number)
		  join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
		                     and j.worker_id is not null
		  join readpast.queue q on q.id = j.queue_id
		 where v.verdict > 0
		   and (v.verdict <> 4 or j.lease_until is not null
		        or readpast.may_run_again(q, j.id, j.group_key, j.came))
		 order by v.number
	loop
		if v.progress is not null and v.verdict <> 4 then
			update readpast.job j
			   set extra = readpast.with_progress(j.extra, v.progress)
			 where j.id = v.id;
		end if;
		if v.dies then
			state := 5;
			perform readpast.put_away(v.id, 5, v.error);
			perform readpast.put_dead(v.id, v.dead_to) where v.dead_to is not null;
		elsif v.verdict = 1 then
			state := readpast.try_again(
			             v.id, v.lane_id, v.waits, v.error,
			             coalesce(v.delay_ms,
			                      readpast.listed_ms(v.backoff, v.attempt),
			                      readpast.backoff_ms(v.attempt, v.backoff_ms,
			                                          v.backoff_max_ms)),
			             joined);
		elsif v.verdict = 3 then
			state := readpast.give_back(v.id, v.lane_id, v.waits,
			                            coalesce(v.delay_ms, 0), joined);
		else
			state := 3;
			perform readpast.renew(v.id, v.delay_ms, v.lease_ms, v.progress);
		end if;
		if v.may_wait and state < 3 then
			state := readpast.end_attempt(v.id, state);
		end if;
		if state = 2 then
			perform readpast.wake(v.queue_id);
		end if;
		number := v.number;
		queue_id := v.queue_id;
		return next;
	end loop;
end
$body$;
