-- fail: settle a running job as failed. The job is tried again later, or it is dead if
-- its attempts are used up or :for_good is 1.
-- The next attempt is due after :delay_ms. If :delay_ms is null, the job's own backoff
-- list is used. If the job has no list, the queue's backoff is used: a delay that
-- doubles after each attempt, and varies at random by up to 10 %.
-- If the queue has a setting dead_to, a copy of a dead job is enqueued in the queue
-- dead_to. That queue is created if it does not exist. It gets the copy even if the
-- payload is larger than its limit, so that no dead job is lost.
-- If a job that has a group is dead, it frees its slot. Otherwise it keeps the slot until
-- its retry. But if the queue's group_pass is 1, it does so only if the delay is 0.
-- A job that was blocked after its lease had ended, and that fails without a delay, stays
-- blocked and keeps its place.
-- If :progress is not null, it replaces the progress of the job. The claim number is
-- increased, so that each claim is settled only once.

select coalesce(:delay_ms,
                (select e.backoff ->> (min(j.attempt,
                                           json_array_length(e.backoff)) - 1)
                   from (select j.extra ->> 'backoff' as backoff) e),
                cast(round(min(q.backoff_max_ms,
                               q.backoff_ms * (1 << min(j.attempt - 1, 24)))
                           * (1 + (random() % 1001) / 10000.0)) as integer)) as delay_ms
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
 where j.id = :id;

-- answer:
select j.queue_id,
       case when :for_good or j.attempt >= j.max_attempts then 5
            when @delay_ms = 0 and j.run_at = 9223372036854775807 then 7
            when @delay_ms = 0
-- include ready_or_blocked
            else 1 end as state,
       j.id, j.priority,
       :for_good or j.attempt >= j.max_attempts as dead,
       not (:for_good or j.attempt >= j.max_attempts) as alive,
       j.run_at = 9223372036854775807 and j.attempt < j.max_attempts
       and not :for_good and @delay_ms = 0 as stays,
       j.run_at = 9223372036854775807
       and (j.attempt >= j.max_attempts or :for_good
            or @delay_ms <> 0) as stops,
       j.group_key, j.came,
       j.group_key is not null and j.run_at < 9223372036854775807
       and (q.holds_until > :now or q.group_limit > 0 and j.came is null)
       and j.attempt < j.max_attempts and not :for_good
       and @delay_ms = 0 as enters,
       j.group_key is not null
       and (:for_good or j.attempt >= j.max_attempts
            or q.group_pass and @delay_ms <> 0) as leaves,
       (:for_good or j.attempt >= j.max_attempts)
       and q.dead_to is not null as letter, q.dead_to,
       :now + @delay_ms as run_at,
       json_insert(iif(json_array_length(j.failures) >= 10,
                       json_remove(j.failures, '$[0]'),
                       coalesce(j.failures, '[]')),
                   '$[#]', json_object('attempt', j.attempt, 'at', :now,
                                       'worker', w.name, 'text', :error))
       as failures
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
  left join readpast_worker w on w.id = j.worker_id
 where j.id = :id and j.claim_no = :claim_no and j.worker_id is not null;

-- include stop_waiting

-- if @dead:
insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures, extra,
                              group_key, expire_at)
select id, queue_id, 5, :now, priority, run_at, claim_no, attempt,
       max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       :error, @failures,
       iif(:progress is null, extra,
           json_patch(coalesce(extra, '{}'),
                      json_object('progress', nullif(:progress, '')))),
       group_key, expire_at
  from readpast_job
 where id = @id;

-- if @dead:
delete from readpast_job where id = @id;

-- if @dead:
-- include count_dead

-- include dead_letter

-- if @alive:
update readpast_job
   set class = 2,
       seq = iif(@state > 1 and not @stays,
                 1 + coalesce((select k.seq from readpast_job k
                                where k.queue_id = @queue_id
                                  and k.priority = @priority
                                  and k.class = 2 and k.seq is not null
                                order by k.seq desc limit 1), 0),
                 null),
       run_at = iif(@stays, run_at, @run_at),
       lease_until = null,
       claim_no = claim_no + 1,
       renewed = 0,
       lost = 0,
       worker_id = null,
       came = iif(@leaves or @stops, null, came),
       last_error = :error,
       failures = @failures,
       extra = iif(:progress is null, extra,
                   json_patch(coalesce(extra, '{}'),
                              json_object('progress', nullif(:progress, ''))))
 where id = @id;

-- include take_slot

-- if @enters:
-- include enter_group

-- the rest if @leaves:
-- include leave_slot
