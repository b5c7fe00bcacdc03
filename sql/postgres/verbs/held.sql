-- held: list the jobs that the worker claimed lately and still holds. :queues is a JSON
-- array of names.

select id, claim_no
  from readpast.held_by(
           :worker_id,
           array(select pg_catalog.json_array_elements_text(
                            :queues::pg_catalog.text::pg_catalog.json)));
