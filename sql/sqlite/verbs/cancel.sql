-- cancel: move a live job from the live table to the archive. Its unique key is free at
-- once. If a worker is running the job, the worker's next verdict on it is refused.
-- If :kind or :state is not null, the job is cancelled only if it has that kind and
-- state.

-- answer:
select id
  from readpast_job
 where id = :id and (:kind is null or kind = :kind)
   and (:state is null
        or :state = case when lease_until is not null then 3
                         when seq is not null or run_at <= :now then 2
                         else 1 end)
   and queue_id in (select id from readpast_queue);

insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures, extra, expire_at)
select id, queue_id, 6, :now, priority, run_at, claim_no, attempt,
       max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       last_error, failures, extra, expire_at
  from readpast_job
 where id = @id;

delete from readpast_job where id = @id;
