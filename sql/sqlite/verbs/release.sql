-- release: give a running job back without counting the attempt. The job is ready at the
-- front of its priority, or scheduled if :delay_ms is above 0. A suspect (a job that may
-- have killed its worker) stays a suspect.
-- A job that has a group keeps its slot. But if the queue's group_pass is 1 and :delay_ms
-- is above 0, the job frees its slot.
-- A job that was blocked after its lease had ended, and is released without a delay, stays
-- blocked and keeps its place.
-- If :progress is not null, it replaces the progress of the job. The claim number is
-- increased, so that each claim is settled only once.

-- answer:
select j.queue_id,
       case when :delay_ms > 0 then 1
            when j.run_at = 9223372036854775807 then 7
            when 1
-- include ready_or_blocked
            end as state,
       j.id, j.priority,
       iif(j.class = 1, 1, iif(:delay_ms > 0, 2, 0)) as class,
       j.run_at = 9223372036854775807 and not :delay_ms > 0 as stays,
       j.run_at = 9223372036854775807 and :delay_ms > 0 as stops,
       j.group_key, j.came,
       j.group_key is not null and j.run_at < 9223372036854775807
       and (q.holds_until > :now or q.group_limit > 0 and j.came is null)
       and not :delay_ms > 0 as enters,
       j.group_key is not null and q.group_pass and :delay_ms > 0
       as leaves
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null;

-- include stop_waiting

update readpast_job
   set class = iif(@stays, class, @class),
       seq = iif(:delay_ms > 0 or @stays, null,
                 1 + coalesce((select k.seq from readpast_job k
                                where k.queue_id = @queue_id
                                  and k.priority = @priority
                                  and k.class = @class and k.seq is not null
                                order by k.seq desc limit 1), 0)),
       run_at = iif(@stays, run_at, :now + :delay_ms),
       lease_until = null,
       claim_no = claim_no + 1,
       renewed = 0,
       attempt = max(attempt - 1, 0),
       worker_id = null,
       came = iif(@leaves or @stops, null, came),
       extra = iif(:progress is null, extra,
                   json_patch(coalesce(extra, '{}'),
                              json_object('progress', nullif(:progress, ''))))
 where id = @id;

-- include take_slot

-- if @enters:
-- include enter_group

-- the rest if @leaves:
-- include leave_slot
