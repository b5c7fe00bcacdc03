-- try_again: make a job whose attempt failed wait for its next attempt. With a delay
-- the job is scheduled. Without a delay it is ready at the end of its lane, or goes on
-- waiting for its group.
-- id: the job.
-- lane_id: its lane (a queue, a priority and a class, see lane_of()).
-- waits: true if the job waits for its group, because its lease was over.
-- error: the error text, which is added to the job's list of failed attempts.
-- delay_ms: how long the job waits, or 0.
-- joined: see stays_open().
-- Result: the job's new state: 1 scheduled, 2 ready, 7 blocked.
-- Locks: the job's row, which the caller has locked already. If the job waits, also
-- those of keep_place().

create function readpast.try_again(id bigint, lane_id bigint, waits boolean,
                                   error text, delay_ms bigint,
                                   joined boolean) returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	normal bigint := readpast.with_class(lane_id, 2);
	stays  boolean := waits and delay_ms = 0;
begin
	perform readpast.keep_place(id, joined) where waits and not stays;
	update readpast.job j
	   set lane_id = normal,
	       seq = case when delay_ms = 0 and not stays
	                  then readpast.next_in_line(normal) end,
	       run_at = case when stays then j.run_at
	                     else clock_timestamp() + readpast.ms(delay_ms) end,
	       lease_until = null,
	       claim_no = j.claim_no + 1,
	       renewed = 0,
	       lost = 0,
	       worker_id = null,
	       last_error = error,
	       failures = readpast.with_failure(j.failures, j.attempt, j.worker_id,
	                                        error)
	 where j.id = try_again.id;
	return case when stays then 7 when delay_ms = 0 then 2 else 1 end;
end
$body$;
