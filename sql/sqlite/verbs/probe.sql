-- probe: is there anything to do in a queue, and if not, when? ready: 1 if a
-- claim would find a job; one that has expired does not count. running: 1 if a job is held.
-- due_in_ms, expires_in_ms: the time
-- until the next job is due, and until the next lease ends; 0 if it has passed, null if
-- there is no such job. suspects: 1 if a suspect is ready. behind: on a server, no worker
-- has swept for a second; here always 1, because each process sweeps by its own schedule.
-- Reads a row or two of each index.

-- answer:
select q.paused_at is null
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
