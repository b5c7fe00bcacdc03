-- worker_queues: change the queues and kinds that a worker serves.

update readpast.worker
   set queues = :queues::pg_catalog.text::pg_catalog.jsonb,
       kinds = :kinds::pg_catalog.text::pg_catalog.jsonb
 where id operator(pg_catalog.=) :id;
