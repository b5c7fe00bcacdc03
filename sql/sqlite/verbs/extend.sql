-- extend: renew the lease of a job that the caller holds. The new lease ends :lease_ms
-- from now. If :lease_ms is null, the queue's lease is used.
-- If :progress is not null, it replaces the progress of the job. If :progress is given
-- without :lease_ms, the new lease does not end before the old one.
-- A lease that is over can be renewed, too, as long as the job was not claimed again.
-- By then the job may be ready or blocked. A ready job is removed from the ready line. A
-- job that waits for its group gets its slot back.

-- answer:
select j.queue_id, 3 as state, j.id,
       max(:now + coalesce(:lease_ms, q.lease_ms),
           iif(:lease_ms is null and :progress is not null,
               j.lease_until, 0)) as lease_until,
       j.run_at = 9223372036854775807 as blocked
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null;

-- include unblock

update readpast_job
   set lease_until = @lease_until, renewed = renewed + 1, seq = null,
       extra = iif(:progress is null, extra,
                   json_patch(coalesce(extra, '{}'),
                              json_object('progress', nullif(:progress, ''))))
 where id = @id;
