-- note_starts: record that a claim starts jobs of a queue with a rate. Also delete
-- starts that do not count any more, because they are older than the rate_ms of the
-- queue.
-- queue_id: the queue.
-- jobs: how many jobs start. If 0, nothing is recorded.
-- claim_no: the number of the claim, which is the time of the start in microseconds
-- since 1970.
-- Result: none.
-- Locks: the rows that the routine deletes. The caller holds the lock of lock_limit().

create function readpast.note_starts(queue_id integer, jobs integer,
                                     claim_no bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $body$
#variable_conflict use_column
declare
	its  record;
	step bigint;
begin
	select q.rate_count, q.rate_ms into its
	  from readpast.queue q
	 where q.id = note_starts.queue_id and q.rate_count > 0;
	if not found or note_starts.jobs = 0 then
		return;
	end if;
	step := case when its.rate_count > readpast.exact_starts()
	             then greatest(its.rate_ms * 10, 1) else 1 end;
	delete from readpast.start s
	 where s.queue_id = note_starts.queue_id
	   and s.at_us <= note_starts.claim_no - its.rate_ms * 1000;
	insert into readpast.start as s (queue_id, at_us, jobs)
	values (note_starts.queue_id, (note_starts.claim_no + step - 1) / step * step,
	        note_starts.jobs)
	    on conflict (queue_id, at_us) do update set jobs = s.jobs + excluded.jobs;
end
$body$;
