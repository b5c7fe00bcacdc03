-- register_waiter: register the worker as a waiter: an enqueue into one of its queues notifies
-- its channel. See the routine register_waiter() for `fresh` and `rest`.
-- :queues is a text[] literal.

select channel, fresh, readpast.to_ms(rest) as rest_ms
  from readpast.register_waiter(:worker_id,
                               :queues::pg_catalog.text::pg_catalog.text[]);
