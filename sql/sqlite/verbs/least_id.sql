-- least_id: return the smallest job id that the schedules (last_job_id) and the taken
-- unique keys (job_id) of the queues :queues (a JSON array of names) contain. The result
-- is null if they contain no id. The job with this id may already be deleted.
-- `readpast copy` may have to give the jobs larger ids in the target. Then it must change
-- these ids in the same way, so it asks for the smallest one before it copies.

-- answer:
select min(id) as id
  from (select min(k.job_id) as id
          from readpast_taken_key k
          join readpast_queue q on q.id = k.queue_id
         where k.until > :now
           and q.name in (select value from json_each(:queues))
        union all
        select min(last_job_id)
          from readpast_schedule
         where queue in (select value from json_each(:queues)));
