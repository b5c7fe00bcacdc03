-- lock_allowed: lock the next ready jobs of a lane that may run now, in a queue with a
-- group limit or a held group. If it meets barred jobs (jobs that may not run now, see
-- next_allowed()), it takes them out of the ready line and looks again, at most
-- claim_looks() times in all. But if it has found no job, it goes on until
-- claim_budget() is over. In a transaction that may stay open, and if it looks at more
-- than `most` jobs, the routine finds the jobs and rolls back to a savepoint, which
-- releases all locks. Then it locks only the jobs that leave the line, and those that
-- it returns. Otherwise other claims would pass the jobs that it does not return.
-- lane_id: the lane (a queue, a priority and a class, see lane_of()).
-- head, most: the parameters of lock_next().
-- joined: true if the transaction may stay open after the claim.
-- Result: the places (ctid) of the jobs' rows, in the order of the line.
-- Locks: these rows, and the rows of the jobs that leave the line, for update. Rows
-- that other transactions have locked are skipped.

create function readpast.lock_allowed(lane_id bigint, head bigint, most integer,
                                      joined boolean) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	next   record;
	wider  integer := most;
	turn   integer := 0;
	barred tid[];
	apart  boolean; -- true if next_allowed() may lock jobs that are not returned
	til    timestamptz := clock_timestamp() + readpast.claim_budget();
begin
	loop
		apart := joined or wider > most;
		if apart then
			begin
				next := readpast.next_allowed(lane_id, head, wider);
				raise exception using errcode = 'RP000';
			exception when sqlstate 'RP000' then
				null;
			end;
		else
			next := readpast.next_allowed(lane_id, head, wider);
		end if;
		exit when next.barred = '{}';
		-- If one job is barred, many may be. So the next turn looks at more jobs.
		wider := readpast.admit_slice();
		barred := case when apart then readpast.lock_places(next.barred)
		               else next.barred end;
		perform readpast.block_jobs(array(
			select j.id from readpast.job j where j.ctid = any (barred)));
		turn := turn + 1;
		exit when cardinality(next.places) >= most
		          or turn >= readpast.claim_looks()
		             and (next.places <> '{}' or clock_timestamp() > til);
		if not joined then
			perform readpast.admit_requested(readpast.queue_of(lane_id));
		end if;
	end loop;
	return case when apart then readpast.lock_places(next.places[:most])
	            else next.places[:most] end;
end
$body$;
