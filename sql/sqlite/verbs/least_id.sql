-- least_id: return the smallest job id in the schedules (last_job_id) and in the taken
-- unique keys (job_id) of some queues. :queues is a JSON array of their names. The
-- result is null if there is no such id. The job may already be deleted.

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
