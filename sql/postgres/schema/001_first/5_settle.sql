-- Schema 1: verdicts.
--
-- Each verdict names the job and the claim number it was given. If another
-- claim has moved the number on, no row matches and nothing changes. That is
-- all our fencing; no clock is compared. Rows are locked in the order of their
-- ids, here and in every routine that changes several.

-- Verdicts: 0 done (as null is), 1 fail, 2 dead, 3 release, 4 extend.
-- delays_ms: of a fail, null is the queue's backoff; of a release, null is none;
-- of an extend it is the lease, null the queue's.
-- Answers what is not plain: `number` is the verdict's, from 1; result: 0
-- accepted, -5 no longer yours, -8 cancelled, -9 never was. All others are done:
-- a row with number 0 says how many of them (`result`) were of one queue.
-- Called by turn(), whose settings keep its plans. `gone`: it has done these, of
-- these queues, when they are all verdicts of one claim; null is none.
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

-- Jobs with these numbers are done. One that has none left the line before.
create function readpast.note_ended(seqs bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	insert into readpast.ended (thousand, jobs)
	select s.seq / 1000, count(*)
	  from unnest(seqs) as s(seq)
	 where s.seq is not null
	 group by 1;
end
$body$;

-- Of jobs that are done now, the archive keeps those whose queue says so.
create function readpast.keep_done(ids bigint[], claim_nos bigint[],
                                   verdicts bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform 1
	   from (select v.id from unnest(ids) as v(id) order by v.id) v
	   join readpast.job j on j.id = v.id
	    for update of j;
	insert into readpast.archive
	       (id, queue_id, state, finished_at, priority, run_at, claim_no,
	        attempt, max_attempts, worker, created_at, unique_key, kind,
	        headers, payload, last_error, failures)
	select j.id, j.queue_id, 4, clock_timestamp(),
	       readpast.priority_of(j.lane_id), j.run_at, j.claim_no, j.attempt,
	       j.max_attempts, w.name, j.created_at, j.unique_key, j.kind,
	       j.headers, j.payload, j.last_error, j.failures
	  from unnest(ids, claim_nos, verdicts) as v(id, claim_no, verdict)
	  join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
	                     and j.worker_id is not null
	  join readpast.queue q on q.id = j.queue_id and q.keep_done_ms > 0
	  left join readpast.worker w on w.id = j.worker_id
	 where coalesce(v.verdict, 0) = 0
	    on conflict do nothing;
end
$body$;

-- Why a verdict was refused: the claim it names was cancelled, there never was
-- a job of this id, or it went on without the caller.
create function readpast.why_refused(id bigint, claim_no bigint)
returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return case
	       when exists (select 1 from readpast.archive a
	                     where a.id = why_refused.id and a.state = 6
	                       and a.claim_no = why_refused.claim_no) then -8
	       when why_refused.id > (select s.last_value
	                                from readpast.job_id_seq s) then -9
	       else -5 end;
end
$body$;

-- The verdicts that leave the job alive, or dead. Their rows are locked.
create function readpast.settle_rest(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[])
returns table (number bigint, state integer, queue_id integer)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	v record;
	moment timestamptz := clock_timestamp();
begin
	for v in
		select v.number, v.verdict, v.delay_ms, v.error, j.id, j.queue_id,
		       j.lane_id, q.lease_ms,
		       v.verdict = 2
		       or v.verdict = 1 and j.attempt >= j.max_attempts as dies,
		       least(q.backoff_max_ms,
		             q.backoff_ms * (1::bigint << least(j.attempt - 1, 24)))
		       * (1 + random() * 0.1) as backoff_ms
		  from unnest(ids, claim_nos, verdicts, delays_ms, errors)
		       with ordinality
		       as v(id, claim_no, verdict, delay_ms, error, number)
		  join readpast.job j on j.id = v.id and j.claim_no = v.claim_no
		                     and j.worker_id is not null
		  join readpast.queue q on q.id = j.queue_id
		 where v.verdict > 0
		 order by v.number
	loop
		if v.dies then
			state := 5;
			perform readpast.put_away(v.id, 5, v.error);
		elsif v.verdict = 1 then
			state := case when v.delay_ms = 0 then 2 else 1 end;
			update readpast.job j
			   set lane_id = readpast.with_class(j.lane_id, 2),
			       seq = case when v.delay_ms = 0
			                  then readpast.next_in_line(
			                           readpast.with_class(j.lane_id, 2)) end,
			       run_at = moment
			                + readpast.ms(coalesce(v.delay_ms,
			                                       v.backoff_ms::bigint)),
			       lease_until = null,
			       claim_no = j.claim_no + 1,
			       renewed = 0,
			       lost = 0,
			       worker_id = null,
			       last_error = v.error,
			       failures = readpast.with_failure(
			                      j.failures, j.attempt, j.worker_id, v.error)
			 where j.id = v.id;
		elsif v.verdict = 3 then
			state := case when v.delay_ms > 0 then 1 else 2 end;
			v.lane_id := readpast.with_class(
			                 v.lane_id, case when v.lane_id % 4 = 1 then 1
			                                 when v.delay_ms > 0 then 2
			                                 else 0 end);
			update readpast.job j
			   set lane_id = v.lane_id,
			       seq = case when state = 2
			                  then readpast.next_in_line(v.lane_id) end,
			       run_at = moment + readpast.ms(coalesce(v.delay_ms, 0)),
			       lease_until = null,
			       claim_no = j.claim_no + 1,
			       renewed = 0,
			       attempt = greatest(j.attempt - 1, 0),
			       worker_id = null
			 where j.id = v.id;
			perform readpast.open_lane(v.lane_id);
		else
			-- A long job leaves the line: the line holds only young ones.
			state := 3;
			update readpast.job j
			   set seq = null,
			       renewed = j.renewed + 1,
			       lease_until = moment + readpast.ms(coalesce(v.delay_ms,
			                                                   v.lease_ms)),
			       run_at = moment + readpast.ms(coalesce(v.delay_ms,
			                                              v.lease_ms))
			 where j.id = v.id;
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

-- A live job ends: the archive has it, in this state; a dead one with the
-- attempt that failed.
create function readpast.put_away(id bigint, state integer, error text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	died boolean := state = 5;
begin
	with gone as (
		delete from readpast.job j where j.id = put_away.id returning j.*)
	insert into readpast.archive
	       (id, queue_id, state, finished_at, priority, run_at, claim_no,
	        attempt, max_attempts, worker, created_at, unique_key, kind,
	        headers, payload, last_error, failures)
	select g.id, g.queue_id, put_away.state, clock_timestamp(),
	       readpast.priority_of(g.lane_id), g.run_at, g.claim_no, g.attempt,
	       g.max_attempts, w.name, g.created_at, g.unique_key, g.kind,
	       g.headers, g.payload, case when died then error else g.last_error end,
	       case when died
	            then readpast.with_failure(g.failures, g.attempt, g.worker_id,
	                                       error)
	            else g.failures end
	  from gone g
	  left join readpast.worker w on w.id = g.worker_id;
end
$body$;

-- Arrays of verdicts are of one length; all but the first two may be null.
create function readpast.are_bad_verdicts(
	ids bigint[], claim_nos bigint[], verdicts bigint[],
	delays_ms bigint[], errors text[])
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return ids is null or claim_nos is null
	       or cardinality(claim_nos) <> cardinality(ids)
	       or cardinality(verdicts) <> cardinality(ids)
	       or cardinality(delays_ms) <> cardinality(ids)
	       or cardinality(errors) <> cardinality(ids)
	       or 0 > any (verdicts) or 4 < any (verdicts)
	       or 0 > any (delays_ms) or :most_ms < any (delays_ms);
end
$body$;

-- ---- for people and programs in any language ----

-- One verdict: the job's state now, or an error that says why it was refused.
create function readpast.verdict(
	id bigint, claim_no bigint, verdict integer, delay interval, error text)
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
	elsif readpast.is_bad_delay(delay) then
		raise exception 'the delay is not within 0..:most_days days'
			using errcode = 'RP003';
	elsif verdict = 4 and readpast.is_bad_lease(delay) then
		raise exception 'the lease is not within 1 ms..:most_days days'
			using errcode = 'RP003';
	end if;
	select t.result, t.settled into it
	  from readpast.turn(null, ids => array[id], claim_nos => array[claim_no],
	                     verdicts => array[verdict::bigint],
	                     delays_ms => array[readpast.to_ms(delay)],
	                     errors => array[left(error, :most_error)]) t;
	if it.result = -5 then
		raise exception 'job % is no longer yours', id using errcode = 'RP001';
	elsif it.result = -8 then
		raise exception 'job % was cancelled', id using errcode = 'RP002';
	elsif it.result = -9 then
		raise exception 'no job has the id %', id using errcode = 'RP005';
	end if;
	return readpast.state_word(it.settled);
end
$body$;

create function readpast.complete(id bigint, claim_no bigint) returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 0, null, null)
$body$;

-- Tried again after the queue's backoff or `delay`, unless attempts are used up
-- or it failed `for_good`: then it is dead.
create function readpast.fail(
	id bigint, claim_no bigint, error text default 'failed',
	delay interval default null, for_good boolean default false)
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, case when for_good then 2 else 1 end,
                        delay, error)
$body$;

-- Given back, the attempt not counted.
create function readpast.release(
	id bigint, claim_no bigint, delay interval default '0')
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 3, delay, null)
$body$;

-- The lease runs from now again.
create function readpast.extend(
	id bigint, claim_no bigint, lease interval default null)
returns text
language sql volatile as $body$
select readpast.verdict(id, claim_no, 4, lease, null)
$body$;

-- Many at once: a row for each, in order, and no error when one was refused.
create function readpast.complete(ids bigint[], claim_nos bigint[])
returns table (id bigint, accepted boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	if readpast.are_bad_verdicts(ids, claim_nos, null, null, null) then
		raise exception 'there are more ids than claim_nos, or less'
			using errcode = 'RP003';
	end if;
	return query
	with refused as materialized (
		select t.number
		  from readpast.turn(null, ids => ids, claim_nos => claim_nos) t
		 where t.number > 0)
	select v.id,
	       not exists (select 1 from refused r where r.number = v.number)
	  from unnest(ids) with ordinality as v(id, number)
	 order by v.number;
end
$body$;
