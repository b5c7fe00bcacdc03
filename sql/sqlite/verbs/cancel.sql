-- cancel: move a live job from the live table to the archive. Its unique key becomes
-- free. If a worker is running the job, the worker's next verdict on it is refused.
-- If :kind or :state is not null, the job is cancelled only if it has that kind and
-- state. The states 2 (ready) and 7 (blocked) count as one state.

-- answer:
select j.id, j.queue_id, j.group_key,
       j.group_key is not null as leaves,
       j.run_at = 9223372036854775807 as blocked, j.priority, j.came
  from readpast_job j
 where j.id = :id and (:kind is null or j.kind = :kind)
   and (:state is null
        or iif(:state = 7, 2, :state)
           = case when j.lease_until is not null then 3
                  when j.seq is not null or j.run_at <= :now
                    or j.run_at = 9223372036854775807 then 2
                  else 1 end)
   and j.queue_id in (select id from readpast_queue);

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
       last_error, failures, extra, group_key, expire_at
  from readpast_job
 where id = @id;

delete from readpast_job where id = @id;

-- the rest if @leaves:
-- include leave_group
