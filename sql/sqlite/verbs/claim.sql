-- claim: offer the ready jobs in claim order, until the row callback stops, and lease
-- those that it takes. Jobs that it passes over stay ready; those that have expired are
-- not offered: a sweep cancels them. The leases are written after
-- the scan: an update during the scan would make SQLite find its place again after each
-- row.
-- Claim numbers are microseconds, so that a claim that was rolled back and a claim right
-- after it do not have the same number.
-- A payload that is stored apart is read after the commit, when the write lock is free.
-- has_extra: the verb `extra` has more of the job. timeout_ms is the queue's.

select q.id as queue_id, :now + coalesce(:lease_ms, q.lease_ms) as lease_until,
       q.timeout_ms
  from readpast_queue q
 where q.name = :queue and q.paused_at is null;

-- answer:
select j.id, j.priority, j.attempt + 1 as attempt, j.max_attempts,
       iif(j.claim_no < :now_us, :now_us, j.claim_no + 1) as claim_no,
       j.run_at, j.created_at, @lease_until as lease_until,
       j.unique_key, j.kind, j.headers, j.payload, j.last_error, j.failures,
       @timeout_ms as timeout_ms, j.extra is not null as has_extra,
       j.class = 1 as suspect
  from readpast_job j
 where j.queue_id = @queue_id and j.seq is not null
   and (j.expire_at is null or j.expire_at > :now)
 order by j.priority, j.class, j.seq;

update or fail readpast_job
   set seq = null,
       lease_until = @lease_until,
       claim_no = iif(claim_no < :now_us, :now_us, claim_no + 1),
       attempt = attempt + 1,
       worker_id = :worker_id
 where id in (:taken);
