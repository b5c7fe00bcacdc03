-- sweep_overdue: cancel up to :max jobs of a queue whose expiry time has passed.
-- Running jobs are not cancelled. The unique keys of the cancelled jobs become free.

-- answer:
select id
  from readpast_job
 where queue_id = :queue_id and expire_at <= :now and expire_at is not null
   and lease_until is null
 order by expire_at
 limit :max;

insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures, extra, expire_at)
select id, queue_id, 6, :now, priority, run_at, claim_no, attempt,
       max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       'expired', failures, extra, expire_at
  from readpast_job
 where id = @id;

delete from readpast_job where id = @id;
