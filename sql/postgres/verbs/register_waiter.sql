-- register_waiter: register the worker, so that an enqueue into one of its queues
-- notifies its channel. :queues is a text[] literal. The routine register_waiter()
-- explains `fresh` and `rest`. missing: whether one of the queues does not exist.

select channel, fresh, readpast.to_ms(rest) as rest_ms,
       exists (select 1
                 from pg_catalog.unnest(:queues::pg_catalog.text::pg_catalog.text[])
                      as wanted(name)
                 left join readpast.queue q
                   on q.name operator(pg_catalog.=) wanted.name
                where q.id is null) as missing
  from readpast.register_waiter(:worker_id,
                               :queues::pg_catalog.text::pg_catalog.text[]);
