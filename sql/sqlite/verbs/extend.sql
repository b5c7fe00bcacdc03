-- extend: renew the lease. It runs from now, for :lease_ms or the queue's lease. :progress
-- replaces the job's, unless it is null; if it comes without :lease_ms, the lease never
-- becomes shorter. A lease that is over can be renewed, too, as long as no other claim has
-- the job: then the job leaves the ready line again.

-- answer:
select j.queue_id, 3 as state, j.id,
       max(:now + coalesce(:lease_ms, q.lease_ms),
           iif(:lease_ms is null and :progress is not null,
               j.lease_until, 0)) as lease_until
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null;

update readpast_job
   set lease_until = @lease_until, renewed = renewed + 1, seq = null,
       extra = iif(:progress is null, extra,
                   json_patch(coalesce(extra, '{}'),
                              json_object('progress', nullif(:progress, ''))))
 where id = @id;
