-- give_back: release a job, so that its attempt is not counted. Without a delay the job
-- is ready, before the other jobs of its priority, or goes on waiting for its group. With
-- a delay it is scheduled. A suspect (a job that may have killed its worker) stays a
-- suspect.
-- id: the job.
-- lane_id: its lane (a queue, a priority and a class, see lane_of()).
-- waits: true if the job waits for its group, because its lease was over.
-- delay_ms: how long the job waits, or 0.
-- joined: see stays_open().
-- Result: the job's new state: 1 scheduled, 2 ready, 7 blocked.
-- Locks: the job's row, which the caller has locked already. If the job waits, also
-- those of keep_place().

create function readpast.give_back(id bigint, lane_id bigint, waits boolean,
                                   delay_ms bigint, joined boolean) returns integer
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	lane  bigint := readpast.with_class(
	                   lane_id, case when readpast.class_of(lane_id) = 1 then 1
	                                 when delay_ms > 0 or waits then 2
	                                 else 0 end);
	stays boolean := waits and delay_ms = 0;
begin
	perform readpast.keep_place(id, joined) where waits and not stays;
	update readpast.job j
	   set lane_id = lane,
	       seq = case when delay_ms = 0 and not stays
	                  then readpast.next_in_line(lane) end,
	       run_at = case when stays then j.run_at
	                     else clock_timestamp() + readpast.ms(delay_ms) end,
	       lease_until = null,
	       claim_no = j.claim_no + 1,
	       renewed = 0,
	       attempt = greatest(j.attempt - 1, 0),
	       worker_id = null
	 where j.id = give_back.id;
	perform readpast.open_lane(lane);
	return case when stays then 7 when delay_ms = 0 then 2 else 1 end;
end
$body$;
