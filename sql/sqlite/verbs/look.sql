-- look: is there anything to do in a queue, and if not, when? ready: 1 if a
-- claim would find something. running: 1 if any job is held. due_in_ms,
-- expires_in_ms: until the next job is due, until the next lease runs out
-- (0: already), null if there is none. suspects: 1 if one is in line. behind: nobody
-- swept the database for a second; here each process sees to that for itself.
-- Reads a row or two of each index.

-- answer:
select q.paused_at is null
       and exists (select 1 from readpast_job
                    where queue_id = q.id and seq is not null) as ready,
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
                    where queue_id = q.id and class = 1 and seq is not null)
       as suspects,
       1 as behind
  from readpast_queue q
 where q.name = :queue;
