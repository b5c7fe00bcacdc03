-- slots_before: how many other jobs of the group of the job j have a slot (the right of
-- one job to run) and either run or come before this job.

(select count(*)
   from readpast_group_slot s
  cross join readpast_job k
  where s.queue_id = j.queue_id and s.group_key = j.group_key
    and s.job_id <> j.id and k.id = s.job_id
    and (k.lease_until is not null
         or (k.priority, k.came, k.id) < (j.priority, j.came, j.id)))
