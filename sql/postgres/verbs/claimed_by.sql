-- claimed_by: list the jobs that the worker claimed recently and still holds. A worker
-- runs this statement if the answer to a claim was lost. :queues is a JSON array of the
-- names of the worker's queues.

select id, claim_no
  from readpast.held_by(
           :worker_id,
           array(select pg_catalog.json_array_elements_text(
                            :queues::pg_catalog.text::pg_catalog.json)));
