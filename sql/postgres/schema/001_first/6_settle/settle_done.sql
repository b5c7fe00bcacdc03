-- settle_done: apply the verdicts `done`. If there are other verdicts, also lock the
-- rows of their jobs for settle_rest().
-- ids, claim_nos, verdicts, results, joined: the parameters of settle().
-- Result:
--   numbers: the positions of the completed jobs in the arrays.
--   queues: the queue of each completed job.
-- Locks: the jobs' rows, for update, in the order of their ids, the rows of `taken_key`
-- for their unique keys, and the rows that free_group_slots() locks. Above READ
-- COMMITTED, locking a row that has changed since the transaction's snapshot raises a
-- serialization failure. So no verdict is refused because of an old snapshot.

create function readpast.settle_done(ids bigint[], claim_nos bigint[],
                                     verdicts bigint[], results bytea[],
                                     joined boolean,
                                     out numbers bigint[],
                                     out queues integer[])
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
	-- True if a queue keeps done jobs, or if somebody may wait for a job. Usually it
	-- is false, so keep_done() is not called and each row is read only once.
	keeps boolean := exists (select 1 from readpast.queue q
	                          where q.keep_done_ms > 0
	                             or q.job_waiters_until is not null);
	most  integer := case when verdicts is null then cardinality(ids)
	                      else cardinality(array_positions(verdicts, null::bigint))
	                           + cardinality(array_positions(verdicts, 0::bigint)) end;
	got   record;
begin
	if 0 < any (verdicts)
	   or current_setting('transaction_isolation') <> 'read committed'
	then
		perform 1
		   from (select v.id from unnest(ids) as v(id) order by v.id) v
		   join readpast.job j on j.id = v.id
		    for update of j;
	end if;
	numbers := '{}';
	queues := '{}';
	-- If `keeps` is false, the first round skips jobs that have a keep_ms. If any job
	-- was not completed, `keeps` is set, and a second round completes the skipped jobs.
	loop
		if keeps then
			perform readpast.keep_done(ids, claim_nos, verdicts, results);
		end if;
		with gone as (
			delete from readpast.job j
			 using (select v.number, v.id, v.claim_no
			          from unnest(ids, claim_nos, verdicts) with ordinality
			               as v(id, claim_no, verdict, number)
			         where coalesce(v.verdict, 0) = 0
			         order by v.id) v
			 where j.id = v.id and j.claim_no = v.claim_no
			   and j.worker_id is not null
			   and (keeps or (j.extra).keep_ms is null)
			returning v.number, j.id, j.queue_id, j.lane_id, j.unique_key,
			          (j.extra).unique_for_ms, j.group_key, j.came)
		select array_agg(g.number) as numbers, array_agg(g.queue_id) as queues,
		       array_agg((g.queue_id, g.unique_key, g.id, clock_timestamp()
		                  + readpast.ms(g.unique_for_ms))::readpast.taken_key)
		           filter (where g.unique_for_ms is not null) as taken,
		       array_agg((g.queue_id, g.group_key, g.id, readpast.priority_of(g.lane_id),
		                  g.came)::readpast.group_slot)
		           filter (where g.group_key is not null) as slots
		  into got
		  from gone g;
		numbers := numbers || got.numbers;
		queues := queues || got.queues;
		if got.taken is not null or got.slots is not null then
			perform readpast.note_done(got.taken, got.slots, joined);
		end if;
		exit when keeps or cardinality(numbers) = most;
		keeps := true;
	end loop;
end
$body$;
