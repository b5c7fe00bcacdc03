-- claim: claim ready jobs of a queue. Each ready job is passed to a callback in C, in
-- claim order, until the callback stops the scan. Jobs that the callback takes get a
-- lease. Jobs that it skips stay ready.
-- Jobs that have expired are not passed to the callback. A sweep cancels them.
-- The leases are written after the scan. An update during the scan would make SQLite
-- search for the position of the scan again.
-- Claim numbers are times in microseconds. A number in milliseconds could be used
-- twice: if a claim is rolled back, a claim right after it could get the same number.
-- A large payload, which is in readpast_payload, is read after the commit, when the
-- write lock is free. has_extra is 1 if the job has values in its column extra, which
-- extra.sql reads. timeout_ms is the setting of the queue, not of the job.
-- free: how many more jobs of the queue may run at once. Null means any number.

select q.id as queue_id, :now + coalesce(:lease_ms, q.lease_ms) as lease_until,
       q.timeout_ms,
       iif(q.run_limit = 0, null,
           q.run_limit -
-- include running
       ) as free
  from readpast_queue q
 where q.name = :queue and q.paused_at is null;

-- answer:
select j.id, j.priority, j.attempt + 1 as attempt, j.max_attempts,
       iif(j.claim_no < :now_us, :now_us, j.claim_no + 1) as claim_no,
       j.run_at, j.created_at, @lease_until as lease_until,
       j.unique_key, j.kind, j.headers, j.payload, j.last_error, j.failures,
       @timeout_ms as timeout_ms, j.extra is not null as has_extra,
       j.class = 1 as suspect, @free as free
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
