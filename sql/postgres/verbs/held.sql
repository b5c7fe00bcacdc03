-- held: what the worker holds, of what it claimed lately.
-- :queues is a text[] literal.

select id, claim_no
  from readpast.held_by(:worker_id,
                        :queues::pg_catalog.text::pg_catalog.text[]);
