-- settle_claim: complete jobs of one claim. It deletes those that have no keep_ms or
-- unique_for_ms, and leaves the others to settle_done().
-- ids: the jobs; claim_no: the number of their claim; results: as of settle().
-- Precondition: no queue keeps done jobs.
-- Result: numbers: the positions in `ids` of the completed jobs (if all were completed,
-- only the length of this array matters); queues: the queue of each completed job.
-- Locks: the jobs' rows, which it deletes; and those of settle_done().
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: the jobs' rows, which are deleted, and a row of `taken_key` for each job that
-- keeps its unique key.

create function readpast.settle_claim(ids bigint[], claim_no bigint,
                                      results bytea[],
                                      out numbers bigint[],
                                      out queues integer[])
language plpgsql volatile
as $body$
#variable_conflict use_column
declare
	done bigint[];
	rest record;
begin
	with gone as (
		delete from readpast.job j
		 where j.id = any (ids) and j.claim_no = settle_claim.claim_no
		   and j.worker_id is not null and j.keep_ms is null
		   and j.unique_for_ms is null
		returning j.id, j.queue_id)
	select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.queue_id), '{}')
	  into done, queues
	  from gone g;
	if cardinality(done) = cardinality(ids) then
		numbers := ids;
	else
		rest := readpast.settle_done(
			ids, array_fill(claim_no, array[cardinality(ids)]), null, results);
		numbers := rest.numbers
			|| array(select v.number
			           from unnest(ids) with ordinality as v(id, number)
			          where v.id = any (done));
		queues := queues || rest.queues;
	end if;
end
$body$;
