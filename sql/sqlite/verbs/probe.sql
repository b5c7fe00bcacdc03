-- probe: return whether a queue has work now, and if not, how long it will take until
-- the queue has work. The statement reads one or two rows of each index.
-- ready is 1 if a claim would find a job. A job that has expired does not count. ready
-- is 0 while as many jobs run as the run_limit of the queue allows. running is 1 if a
-- job is running. suspects is 1 if a suspect (a job that may have killed its worker) is
-- ready.
-- due_in_ms is the time until the next scheduled job is due. expires_in_ms is the time
-- until the next lease ends. Each of the two is 0 if its time has passed, and null if
-- there is no such job.
-- behind is 1 if the caller must sweep when its own timer says so. On SQLite it is always
-- 1, because each process sweeps for itself. On PostgreSQL one worker sweeps for all, and
-- behind is 1 only if no worker has swept for a second.

-- answer:
select q.paused_at is null
       and (q.run_limit = 0 or q.run_limit >
-- include running
       )
       and exists (select 1 from readpast_job
                    where queue_id = q.id and seq is not null)
       and (not exists (select 1 from readpast_job
                         where queue_id = q.id and expire_at <= :now
                           and expire_at is not null)
            or exists (select 1 from readpast_job
                        where queue_id = q.id and seq is not null
                          and (expire_at is null or expire_at > :now)))
       as ready,
       exists (select 1 from readpast_job
                where queue_id = q.id and lease_until is not null) as running,
       max(0, (select min(run_at) from readpast_job
                where queue_id = q.id and seq is null
                  and lease_until is null) - :now) as due_in_ms,
       max(0, (select min(lease_until) from readpast_job
                where queue_id = q.id
                  and lease_until is not null) - :now) as expires_in_ms,
       q.paused_at is not null as paused,
       q.paused_at is null
       and exists (select 1 from readpast_job indexed by readpast_job_suspect
                    where queue_id = q.id and class = 1 and seq is not null
                      and (expire_at is null or expire_at > :now))
       as suspects,
       1 as behind
  from readpast_queue q
 where q.name = :queue;
