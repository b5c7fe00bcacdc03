-- register_waiter: register the worker, so that an enqueue into one of its queues
-- notifies its channel. :queues is a text[] literal. The routine register_waiter()
-- explains `fresh` and `rest`.

select channel, fresh, readpast.to_ms(rest) as rest_ms
  from readpast.register_waiter(:worker_id,
                               :queues::pg_catalog.text::pg_catalog.text[]);
