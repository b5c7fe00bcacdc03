-- settle_claim: complete jobs of one claim.
-- Precondition: no queue keeps done jobs.
-- ids: the jobs; claim_no: of all of them.
-- Result: numbers: the places in `ids` of the completed jobs (if all were completed, only
-- the count of the numbers matters); queues: the queue of each.
-- Locks: the jobs' rows, which it deletes.
-- Called only by settle_and_claim(), with its search_path and settings.

create function readpast.settle_claim(ids bigint[], claim_no bigint,
                                      out numbers bigint[],
                                      out queues integer[])
language plpgsql volatile
as $body$
#variable_conflict use_column
declare
	done bigint[];
begin
	with gone as (
		delete from readpast.job j
		 where j.id = any (ids) and j.claim_no = settle_claim.claim_no
		   and j.worker_id is not null
		returning j.id, j.queue_id)
	select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.queue_id), '{}')
	  into done, queues
	  from gone g;
	if cardinality(done) = cardinality(ids) then
		numbers := array(select generate_series(1, cardinality(ids)));
	else
		numbers := array(select v.number
		                   from unnest(ids) with ordinality as v(id, number)
		                  where v.id = any (done));
	end if;
end
$body$;
