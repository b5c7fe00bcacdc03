-- settle: apply verdicts. Each verdict names a job and the claim number that the claim
-- returned. If a later claim has taken the job, the job has another claim number. So
-- the verdict matches no row, and nothing happens. The claim number alone decides
-- whether a verdict is accepted. (Such a number is called a fencing token.) No clock is
-- compared. All arrays have the same length. The arrays after claim_nos may be null.
-- ids, claim_nos: the jobs and their claim numbers.
-- verdicts: 0 done, 1 fail, 2 dead, 3 release, 4 extend. A null array: all are done.
-- delays_ms: how long a failed or released job waits, or the length of an extended
-- lease. Null for a failed job: the backoff of the job or of its queue. Null for a
-- released job: no wait. Null for an extended lease: the lease of its queue.
-- errors: the errors of failed jobs.
-- results: the results of done jobs. They are stored if the job is kept.
-- progresses: the progress of the jobs that are not done. Null keeps the job's last
-- progress. An extension with a progress and a null delay never makes the lease
-- shorter, because the worker may have sent it only to store the progress.
-- joined: true if this transaction may stay open.
-- Rows: a row with number 0 counts, in `result`, the jobs of one queue that were
-- accepted as done. Each other row is about one verdict, and `number` is its position
-- in the arrays.
--   result 0: the verdict was accepted, and `state` is the job's new state.
--   result -5: this claim no longer has the job.
--   result -8: the job was cancelled.
--   result -9: no job ever had this id.
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: the jobs' rows, in the order of their ids. All routines that change several
-- jobs use this order. (If all verdicts are `done` and all jobs are of one claim, the
-- order does not matter, because no other worker settles these jobs.) The routine also
-- locks, for each job, the rows that verdict() names. The call waits for transactions
-- that have locked these rows.

create function readpast.settle(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[], results bytea[],
	progresses text[], joined boolean)
returns table (number bigint, result integer, state integer, queue_id integer)
language plpgsql volatile
as $body$
#variable_conflict use_column
declare
	done     record;
	accepted bigint[];
	died     integer[] := '{}';  -- the queue of each job that died
begin
	if readpast.are_bad_verdicts(ids, claim_nos, verdicts, delays_ms, errors) then
		perform readpast.refuse_round_trip(null, 0, ids);
	elsif results is not null or progresses is not null then
		perform readpast.check_reports(ids, results, progresses);
	end if;
	-- Fast path: all verdicts are `done`, all jobs are of one claim, the transaction
	-- is READ COMMITTED, no queue keeps done jobs or has a group limit, and nobody
	-- waits for a job. In this case settle_claim() deletes the jobs that have no
	-- keep_ms, no unique_for_ms and no group, and calls settle_done() for the others.
	if verdicts is null and claim_nos[1] = all (claim_nos)
	   and current_setting('transaction_isolation') = 'read committed'
	   and not exists (select 1 from readpast.queue q
	                    where q.keep_done_ms > 0 or q.job_waiters_until is not null
	                       or q.group_limit > 0)
	then
		done := readpast.settle_claim(ids, claim_nos[1], results, joined);
	else
		done := readpast.settle_done(ids, claim_nos, verdicts, results, joined);
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
			                                   progresses, joined) loop
			accepted := accepted || number;
			died := case when state = 5 then died || queue_id else died end;
			return next;
		end loop;
		perform readpast.count_dead(died) where died <> '{}';
	end if;
	if cardinality(accepted) < cardinality(ids) then
		return query
		select v.number, readpast.why_refused(v.id, v.claim_no),
		       null::integer, null::integer
		  from unnest(ids, claim_nos) with ordinality as v(id, claim_no, number)
		 where v.number not in (select unnest(accepted));
	end if;
end
$body$;
