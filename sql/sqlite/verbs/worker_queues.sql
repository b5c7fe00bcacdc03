-- worker_queues: change the queues and kinds that a worker serves.

update readpast_worker set queues = :queues, kinds = :kinds where id = :id;
