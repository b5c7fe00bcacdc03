-- sweep_expired: a lease of a queue's job that ran out ends the attempt. The job
-- is in line again: at the front; as a suspect, if its lease before that ran out,
-- too, or its next attempt is the last. If that was the last one it is dead. The
-- claim number stays: until somebody claims the job, its late holder's verdict
-- is good. :max jobs at the most.
-- The failure says who had the job, and when it was heard of for the last time.

-- answer:
select j.id, j.attempt >= j.max_attempts as dead,
       j.attempt < j.max_attempts as alive, j.priority,
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
 where j.queue_id = :queue_id and j.lease_until <= :now
   and j.lease_until is not null
 order by j.lease_until, j.id
 limit :max;

-- if @dead:
insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures)
select id, queue_id, 5, :now, priority, run_at, claim_no, attempt,
       max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       @error, @failures
  from readpast_job
 where id = @id;

-- if @dead:
delete from readpast_job where id = @id;

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
