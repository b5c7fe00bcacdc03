-- sweep_due: find the scheduled jobs of a queue that are due, and make them ready, at
-- most :max jobs. Each job goes to the end of its lane (the ready jobs of one queue,
-- priority and class).

-- answer:
select id, priority, iif(class = 1, 1, 2) as class
  from readpast_job
 where queue_id = :queue_id and seq is null and lease_until is null
   and run_at <= :now
 order by run_at
 limit :max;

update readpast_job
   set class = @class,
       seq = 1 + coalesce((select k.seq from readpast_job k
                            where k.queue_id = :queue_id
                              and k.priority = @priority
                              and k.class = @class and k.seq is not null
                            order by k.seq desc limit 1), 0)
 where id = @id;
