-- hold_of: hold the queue of a job that the caller has claimed, for :for_ms from now.
-- If :whole is 0, hold only the group of the job. Nothing changes if the claim
-- :claim_no does not hold the job, or if :whole is 0 and the job has no group.

-- answer:
select j.id, j.queue_id, iif(:whole, null, j.group_key) as group_key
  from readpast_job j
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null
   and (:whole or j.group_key is not null);

-- include set_hold
