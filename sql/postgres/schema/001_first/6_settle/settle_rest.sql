-- settle_rest: The verdicts that leave the job alive, or dead. Their rows are
-- locked.

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
