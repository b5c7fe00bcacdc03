-- least_id: the smallest id of a job that a schedule or a taken unique key of these queues (a
-- JSON array of names) names; null: there is none. The job may be gone.

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
