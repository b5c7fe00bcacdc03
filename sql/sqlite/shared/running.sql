-- running: the number of running jobs of the queue q.

(select count(*) from readpast_job r
  where r.queue_id = q.id and r.lease_until is not null)
