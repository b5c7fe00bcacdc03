-- hold_of: hold the queue (if :whole is 1) or the group of a job that the caller holds,
-- for :for_ms from now. If the group is to be held and the job has none, or if the claim
-- :claim_no does not hold the job, nothing changes.

-- answer:
select j.id, j.queue_id, iif(:whole, null, j.extra ->> 'group') as group_key
  from readpast_job j
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null
   and (:whole or j.extra ->> 'group' is not null);

-- include set_hold
