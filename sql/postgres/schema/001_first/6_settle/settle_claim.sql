-- settle_claim: complete jobs of one claim. The routine deletes the jobs that have no
-- keep_ms, no unique_for_ms and no group. settle_done() completes the other jobs. A job
-- with a group may have a slot or wait even if no queue has a group limit now: a group
-- may be held, and a limit may be set or removed while the job runs.
-- ids, claim_no: the jobs, and the number of their claim.
-- results: the results of the jobs, or null, see settle(). joined: see settle().
-- Precondition: no queue keeps done jobs or has a group limit, and no client waits for
-- the end of a job.
-- Result:
--   numbers: the positions in `ids` of the completed jobs, in any order. If the
--     routine has deleted all jobs, it returns `ids` here. The caller then uses only
--     the length of the array.
--   queues: the queue of each completed job, in any order.
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: the jobs' rows, which are deleted, and the rows that settle_done() locks.

create function readpast.settle_claim(ids bigint[], claim_no bigint,
                                      results bytea[], joined boolean,
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
		   and j.worker_id is not null
		   and j.group_key is null
		   and (j.extra is null or (j.extra).keep_ms is null
		                           and (j.extra).unique_for_ms is null)
		returning j.id, j.queue_id)
	select coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.queue_id), '{}')
	  into done, queues
	  from gone g;
	if cardinality(done) = cardinality(ids) then
		numbers := ids;
	else
		rest := readpast.settle_done(
			ids, array_fill(claim_no, array[cardinality(ids)]), null, results,
			joined);
		numbers := rest.numbers
			|| array(select v.number
			           from unnest(ids) with ordinality as v(id, number)
			          -- `is true` prevents a join, so the list is hashed.
			          where (v.id in (select unnest(done))) is true);
		queues := queues || rest.queues;
	end if;
end
$body$;
