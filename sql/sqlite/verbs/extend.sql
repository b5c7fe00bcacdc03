-- extend: the lease runs from now again, for :lease_ms or the queue's own. One
-- that was over and not yet taken over is good again: the job leaves the line.

-- answer:
select j.queue_id, 3 as state, j.id,
       :now + coalesce(:lease_ms, q.lease_ms) as lease_until
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null;

update readpast_job
   set lease_until = @lease_until, renewed = renewed + 1, seq = null
 where id = @id;
