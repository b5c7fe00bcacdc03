-- unregister_waiter: end the registration as a waiter, because the worker has found
-- work. :queues is a text[] literal.

select readpast.unregister_waiter(:worker_id,
                      :queues::pg_catalog.text::pg_catalog.text[]);
