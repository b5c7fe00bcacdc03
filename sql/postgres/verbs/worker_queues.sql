-- worker_queues: the worker serves other queues from now on.

update readpast.worker
   set queues = :queues::pg_catalog.text::pg_catalog.jsonb,
       kinds = :kinds::pg_catalog.text::pg_catalog.jsonb
 where id operator(pg_catalog.=) :id;
