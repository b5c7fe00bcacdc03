-- sweep_overdue: cancel up to :max jobs of a queue whose expiry time has passed.
-- Running jobs are not cancelled. The unique keys of the cancelled jobs become free.

-- answer:
select j.id, j.queue_id, j.group_key,
       j.group_key is not null as leaves,
       j.run_at = 9223372036854775807 as blocked, j.priority, j.came
  from readpast_job j
 where j.queue_id = :queue_id and j.expire_at <= :now
   and j.expire_at is not null and j.lease_until is null
 order by j.expire_at
 limit :max;

-- include real_run_at

insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts,
                              worker, created_at, unique_key, kind, headers,
                              payload, last_error, failures, extra,
                              group_key, expire_at)
select id, queue_id, 6, :now, priority, run_at, claim_no, attempt,
       max_attempts,
       (select name from readpast_worker w where w.id = worker_id),
       created_at, unique_key, kind, headers, payload,
       'expired', failures, extra, group_key, expire_at
  from readpast_job
 where id = @id;

delete from readpast_job where id = @id;

-- the rest if @leaves:
-- include leave_group
