-- live_job: a queue, and one of its live jobs, if possible one that ends late, or null.

-- answer:
select q.id as queue_id,
       coalesce((select id from readpast_job
                  where queue_id = q.id and seq is null and lease_until is null
                  order by run_at desc limit 1),
                (select id from readpast_job
                  where queue_id = q.id and seq is not null
                  order by priority desc, class desc, seq desc limit 1),
                (select id from readpast_job
                  where queue_id = q.id and lease_until is not null
                  order by lease_until desc limit 1)) as id
  from readpast_queue q
 where q.name = :queue;
