-- awake: the worker has work: nobody needs to wake it.
-- :queues is a text[] literal.

select readpast.awake(:worker_id,
                      :queues::pg_catalog.text::pg_catalog.text[]);
