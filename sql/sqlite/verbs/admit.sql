-- admit: a claim has found the job :id in the ready line, but the job may not start.
-- These are the possible reasons:
--   The group of the job is held.
--   The job has no slot (the right of one job to run).
--   The group limit was lowered, and other jobs of the group, which run or come before
--     this job, use all slots, or a waiting job comes before this job.
-- Jobs come into the line without a slot if the queue had no group limit at that time,
-- or if they were copied from another database.

select j.id, j.queue_id, j.priority, j.class, j.seq,
       j.group_key, coalesce(j.came, 1000 * j.run_at) as came,
       j.came is not null as slotted
  from readpast_job j
 where j.id = :id and j.seq is not null;

-- include stay_or_wait
