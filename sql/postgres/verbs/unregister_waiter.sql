-- unregister_waiter: the worker has work: unregister it as a waiter.
-- :queues is a text[] literal.

select readpast.unregister_waiter(:worker_id,
                      :queues::pg_catalog.text::pg_catalog.text[]);
