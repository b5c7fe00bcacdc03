-- try_again: a job's attempt failed, and it has attempts left: it is scheduled, or ready
-- at the end of the normal lane if there is no delay.
-- id: the job; lane_id: where it is; error: what is noted; delay_ms: 0 for none.
-- Result: its new state: 1 scheduled, 2 ready.
-- Locks: none but the job's row, which the caller has locked.

create function readpast.try_again(id bigint, lane_id bigint, error text,
                                   delay_ms bigint) returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	normal bigint := readpast.with_class(lane_id, 2);
begin
	update readpast.job j
	   set lane_id = normal,
	       seq = case when delay_ms = 0 then readpast.next_in_line(normal) end,
	       run_at = clock_timestamp() + readpast.ms(delay_ms),
	       lease_until = null,
	       claim_no = j.claim_no + 1,
	       renewed = 0,
	       lost = 0,
	       worker_id = null,
	       last_error = error,
	       failures = readpast.with_failure(j.failures, j.attempt, j.worker_id,
	                                        error)
	 where j.id = try_again.id;
	return case when delay_ms = 0 then 2 else 1 end;
end
$body$;
