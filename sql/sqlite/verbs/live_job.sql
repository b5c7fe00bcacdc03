-- live_job: return the id of a queue, and the id of one of its live jobs. The second id
-- is null if the queue has no live job.
-- A client that waits until the queue is empty waits for this job first. So the
-- statement chooses a job that will probably end late. It takes the first of these that
-- exists: a job that waits for its group, the last scheduled job, the last ready job,
-- the running job whose lease ends last.

-- answer:
select q.id as queue_id,
       coalesce((select job_id from readpast_group_wait
                  where queue_id = q.id
                  order by group_key desc, priority desc, came desc limit 1),
                (select id from readpast_job
                  where queue_id = q.id and seq is null and lease_until is null
                    and run_at < 9223372036854775807
                  order by run_at desc limit 1),
                (select id from readpast_job
                  where queue_id = q.id and seq is not null
                  order by priority desc, class desc, seq desc limit 1),
                (select id from readpast_job
                  where queue_id = q.id and lease_until is not null
                  order by lease_until desc limit 1)) as id
  from readpast_queue q
 where q.name = :queue;
