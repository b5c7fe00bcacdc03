-- unregister_waiter: end the registration of a worker as a waiter (a worker that waits
-- for a notification). :queues is a text[] literal.

select readpast.unregister_waiter(:worker_id,
                      :queues::pg_catalog.text::pg_catalog.text[]);
