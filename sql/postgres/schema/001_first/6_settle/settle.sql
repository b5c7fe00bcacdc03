-- settle: apply verdicts. Each names a job and the claim number that its claim was given.
-- If another claim has moved the number on, no row matches and nothing changes. This is
-- the whole fencing (a fencing token); no clock is compared.
--
-- ids, claim_nos: of the same length, as the others if they are not null.
-- verdicts: 0 done, 1 fail, 2 dead, 3 release, 4 extend; null: all are done.
-- delays_ms: how long a failed or released job waits, and how long an extended lease
-- is. If it is null, a failed job waits for its queue's backoff, a released job does
-- not wait, and an extended lease has its queue's length. errors: of failed jobs.
-- results: of done jobs, kept if the job is kept. progresses: of the others, null for what
-- the job has already; one that comes with an extension makes no lease shorter.
-- Rows: number 0: `result` verdicts on jobs of this queue were simply accepted as done. 1
-- and more is a verdict's place in the arrays: result 0 accepted, with the job's new
-- state; -5 another claim has the job or it is finished; -8 it was cancelled; -9 no job
-- ever had this id.
-- Locks: the jobs' rows, in the order of their ids, like all routines that change several
-- jobs; but not for done jobs of one claim, which no other worker settles. It waits for
-- transactions that have the rows locked.
-- Called only by settle_and_claim(), with its search_path and settings.

create function readpast.settle(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[], results bytea[],
	progresses text[])
returns table (number bigint, result integer, state integer, queue_id integer)
language plpgsql volatile
as $body$
#variable_conflict use_column
declare
	done     record;
	accepted bigint[];
begin
	if readpast.are_bad_verdicts(ids, claim_nos, verdicts, delays_ms, errors) then
		perform readpast.refuse_round_trip(null, 0, ids);
	elsif results is not null or progresses is not null then
		perform readpast.check_reports(ids, results, progresses);
	end if;
	-- Fast path: all verdicts are `done`, on jobs of one claim; no queue keeps done
	-- jobs, and nobody waits for a job.
	if verdicts is null and claim_nos[1] = all (claim_nos)
	   and current_setting('transaction_isolation') = 'read committed'
	   and not exists (select 1 from readpast.queue q
	                    where q.keep_done_ms > 0 or q.job_waiters_until is not null)
	then
		done := readpast.settle_claim(ids, claim_nos[1], results);
	else
		done := readpast.settle_done(ids, claim_nos, verdicts, results);
	end if;
	accepted := done.numbers;
	if done.queues <> '{}' and done.queues[1] = all (done.queues) then
		number := 0;
		result := cardinality(done.queues);
		state := 4;
		queue_id := done.queues[1];
		return next;
	else
		return query
		select 0::bigint, count(*)::integer, 4, q.id
		  from unnest(done.queues) as q(id)
		 group by q.id;
	end if;
	if 0 < any (verdicts) then
		result := 0;
		for number, state, queue_id in
			select * from readpast.settle_rest(ids, claim_nos, verdicts,
			                                   delays_ms, errors,
			                                   progresses) loop
			accepted := accepted || number;
			return next;
		end loop;
	end if;
	if cardinality(accepted) < cardinality(ids) then
		return query
		select v.number, readpast.why_refused(v.id, v.claim_no),
		       null::integer, null::integer
		  from unnest(ids, claim_nos) with ordinality as v(id, claim_no, number)
		 where v.number <> all (accepted);
	end if;
end
$body$;
