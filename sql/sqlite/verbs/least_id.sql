-- least_id: return the smallest job id that schedules (last_job_id) and taken unique
-- keys (job_id) of the queues :queues (a JSON array of names) refer to. The result is
-- null if they refer to no job. The job may already be deleted.

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
