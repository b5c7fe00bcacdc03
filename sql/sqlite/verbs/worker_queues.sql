-- worker_queues: the worker serves other queues from now on.

update readpast_worker set queues = :queues, kinds = :kinds where id = :id;
