-- settle: verdicts. Each names a job and the claim number that it was given; where
-- another claim has moved the number on, no row matches and nothing changes. That is
-- all our fencing; no clock is compared. Rows are locked in the order of their ids, here
-- and in every routine that changes several.
--
-- Verdicts: 0 done (as null is), 1 fail, 2 dead, 3 release, 4 extend. delays_ms: of a
-- fail, null is the queue's backoff; of a release, null is none; of an extend it is the
-- lease, null the queue's. Rows: number 0 says that `result` verdicts of jobs of one
-- queue are done; any other is a verdict's place in the arrays, from 1, and result is 0
-- accepted, -5 no longer yours, -8 cancelled, -9 never was.
--
-- Called by turn(), whose settings hold its plans. gone: turn() has completed these jobs
-- already, of these queues; null: it has completed none.

create function readpast.settle(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[], gone bigint[], queues integer[])
returns table (number bigint, result integer, state integer, queue_id integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
as $body$
#variable_conflict use_column
declare
	accepted bigint[]; -- their numbers
	more     boolean := not coalesce(0 = all (verdicts), true);
	seqs     bigint[];
	rest     record;
begin
	if gone is not null then
		accepted := array(select v.number
		                    from unnest(ids) with ordinality as v(id, number)
		                   where v.id = any (gone));
	else
		-- At the higher levels too: what changed since the snapshot was taken is
		-- a serialization failure then, and never a false refusal.
		if more
		   or current_setting('transaction_isolation') <> 'read committed'
		then
			perform 1
			   from (select v.id from unnest(ids) as v(id) order by v.id) v
			   join readpast.job j on j.id = v.id
			    for update of j;
		end if;
		-- Queues that keep done jobs are few: for the others nothing is read
		-- twice.
		if exists (select 1 from readpast.queue q where q.keep_done_ms > 0) then
			perform readpast.keep_done(ids, claim_nos, verdicts);
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
			returning v.number, j.queue_id, j.seq)
		select array_agg(g.number), array_agg(g.queue_id), array_agg(g.seq)
		  into accepted, queues, seqs
		  from gone g;
		if cardinality(seqs) >= 10 then
			perform readpast.note_ended(seqs);
		end if;
	end if;
	return query
	select 0::bigint, count(*)::integer, 4, q.id
	  from unnest(queues) as q(id)
	 group by q.id;

	if more then
		for rest in
			select * from readpast.settle_rest(ids, claim_nos, verdicts,
			                                   delays_ms, errors)
		loop
			number := rest.number;
			result := 0;
			state := rest.state;
			queue_id := rest.queue_id;
			accepted := accepted || rest.number;
			return next;
		end loop;
	end if;

	if coalesce(cardinality(accepted), 0) < cardinality(ids) then
		return query
		select v.number, readpast.why_refused(v.id, v.claim_no),
		       null::integer, null::integer
		  from unnest(ids, claim_nos) with ordinality
		       as v(id, claim_no, number)
		 where v.number <> all (coalesce(accepted, '{}'));
	end if;
end
$body$;
