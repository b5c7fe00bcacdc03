-- settle_claim: complete jobs of one claim, except those that have a keep_ms.
--
-- ids: the jobs; claim_no: the number of their claim.
-- Precondition: no queue keeps done jobs.
-- Result: numbers: the positions in `ids` of the completed jobs (if all were completed,
-- only the length of this array matters); queues: the queue of each completed job.
-- Locks: the jobs' rows, which it deletes; and what take_keys() locks.
-- Called only by settle_and_claim(), with its search_path and settings.

create function readpast.settle_claim(ids bigint[], claim_no bigint,
                                      out numbers bigint[],
                                      out queues integer[])
language plpgsql volatile
as $body$
#variable_conflict use_column
declare
	done  bigint[];
	taken readpast.taken_key[];
begin
	with gone as (
		delete from readpast.job j
		 where j.id = any (ids) and j.claim_no = settle_claim.claim_no
		   and j.worker_id is not null and j.keep_ms is null
		returning j.id, j.queue_id, j.unique_key, j.unique_for_ms)
	select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.queue_id), '{}'),
	       array_agg((g.queue_id, g.unique_key, g.id, clock_timestamp()
	                  + readpast.ms(g.unique_for_ms))::readpast.taken_key)
	           filter (where g.unique_for_ms is not null)
	  into done, queues, taken
	  from gone g;
	if taken is not null then
		perform readpast.take_keys(taken);
	end if;
	if cardinality(done) = cardinality(ids) then
		numbers := array(select generate_series(1, cardinality(ids)));
	else
		numbers := array(select v.number
		                   from unnest(ids) with ordinality as v(id, number)
		                  where v.id = any (done));
	end if;
end
$body$;
