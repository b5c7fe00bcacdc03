-- extend: renew the lease of a job that the caller holds. The new lease ends :lease_ms
-- from now. If :lease_ms is null, the queue's lease is used.
-- If :progress is not null, it replaces the progress of the job. If :progress is given
-- without :lease_ms, the new lease does not end before the old one.
-- A lease that is over can be renewed, too, as long as the job was not claimed again.
-- By then the job may be ready. It is removed from the ready line. But if the job waits
-- for its group, or if another job may have started in its place, because its queue or
-- its group has a limit, the verdict is refused.

-- answer:
select j.queue_id, 3 as state, j.id,
       max(:now + coalesce(:lease_ms, q.lease_ms),
           iif(:lease_ms is null and :progress is not null,
               coalesce(j.lease_until, 0), 0)) as lease_until
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null
   and (j.lease_until is not null
        or j.run_at < 9223372036854775807 and q.run_limit = 0
           and (q.group_limit = 0 or j.group_key is null
                or j.came is not null
                   and (not q.group_lowered or q.group_limit >
-- include slots_before
               )));

update readpast_job
   set lease_until = @lease_until, renewed = renewed + 1, seq = null,
       extra = iif(:progress is null, extra,
                   json_patch(coalesce(extra, '{}'),
                              json_object('progress', nullif(:progress, ''))))
 where id = @id;
