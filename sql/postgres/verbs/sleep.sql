-- sleep: register the worker as a waiter: an enqueue into one of its queues notifies
-- its channel. See the routine going_to_sleep() for `fresh` and `rest`.
-- :queues is a text[] literal.

select channel, fresh, readpast.to_ms(rest) as rest_ms
  from readpast.going_to_sleep(:worker_id,
                               :queues::pg_catalog.text::pg_catalog.text[]);
