-- sweep_expired: end leases that ran out, up to :max in one queue. The end of a lease
-- ends an attempt of its job.
-- The job is ready again at the front of its priority. If the previous lease of the job
-- ran out as well, or if its next attempt is the last one, the job becomes a suspect
-- (class 1). If the ended attempt was the last one, the job is dead. If the queue has a
-- setting dead_to, a dead job also leaves a new job in the queue dead_to.
-- A job that has a group keeps its slot, unless it is dead.
-- The claim number does not change, so a late verdict of the holder is accepted until the
-- job is claimed again.
-- The column failures records the worker that had the job, and when this worker was
-- last seen.

-- answer:
select j.id, j.attempt >= j.max_attempts as dead,
       j.attempt < j.max_attempts as alive, j.priority,
       j.queue_id, j.group_key,
       j.group_key is not null and j.attempt < j.max_attempts
       and q.holds_until > :now as enters,
       j.group_key is not null and j.attempt >= j.max_attempts
       as leaves,
       j.attempt >= j.max_attempts and q.dead_to is not null as letter,
       q.dead_to,
       iif(j.lost > 0 or j.attempt + 1 >= j.max_attempts, 1, 0) as class,
       printf('lease ran out, attempt %d of %d', j.attempt, j.max_attempts)
       as error,
       json_insert(iif(json_array_length(j.failures) >= 10,
                       json_remove(j.failures, '$[0]'),
                       coalesce(j.failures, '[]')),
                   '$[#]', json_object(
                       'attempt', j.attempt, 'at', :now, 'worker', w.name,
                       'host', w.host,
                       'seen_at', max(coalesce(w.seen_at, 0),
                                      j.claim_no / 1000),
                       'text', printf('lease ran out, attempt %d of %d',
                                      j.attempt, j.max_attempts)))
       as failures
  from readpast_job j
  left join readpast_worker w on w.id = j.worker_id
  left join readpast_queue q on q.id = j.queue_id
 where j.queue_id = :queue_id and j.lease_until <= :now
   and j.lease_until is not null
 order by j.lease_until, j.id
 limit :max;

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
       @error, @failures, extra, group_key, expire_at
  from readpast_job
 where id = @id;

-- if @dead:
delete from readpast_job where id = @id;

-- if @dead:
-- include count_dead

-- include dead_letter

-- if @alive:
update readpast_job
   set class = @class,
       seq = 1 + coalesce((select k.seq from readpast_job k
                            where k.queue_id = :queue_id
                              and k.priority = @priority
                              and k.class = @class and k.seq is not null
                            order by k.seq desc limit 1), 0),
       run_at = :now,
       lease_until = null,
       renewed = 0,
       lost = lost + 1,
       last_error = @error,
       failures = @failures
 where id = @id;

-- if @enters:
-- include enter_group

-- the rest if @leaves:
-- include leave_slot
