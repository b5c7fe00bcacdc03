-- claim: claim ready jobs of a queue. Each ready job is passed to a callback in C, in
-- claim order, until the callback stops the scan. Jobs that the callback takes get a
-- lease. Jobs that it skips stay ready.
-- Jobs that have expired are not passed to the callback. A sweep cancels them.
-- The leases are written after the scan. An update during the scan would make SQLite
-- search for the position of the scan again.
-- Claim numbers are times in microseconds. A number in milliseconds could be used
-- twice: if a claim is rolled back, a claim right after it could get the same number.
-- A large payload, which is in readpast_payload, is read after the commit, when the
-- write lock is free. timeout_ms is the setting of the queue, not of the job.
-- terms tells the callback about the columns group_key and extra, and whether the job may
-- start:
--   2: the job may not start, because it has no slot of its group, or its group is held,
--     or the group limit was lowered, and other jobs use all slots, or a waiting job
--     comes before this one. The callback skips the job, and runs the verb admit for it.
--   null: both columns are null.
--   a text: extra is null, and this is the name of the job's group.
--   1: extra is not null. The callback runs the verb extra to read both columns.
-- free: how many more jobs of the queue may start. It is a large number if only groups
-- have a limit. Null means that the queue has no limit at all.
-- has_rate: 1 if the caller must record the starts with the verb rate_start.
-- The plus signs in the comparison with waiting jobs let SQLite search the index for all
-- three columns. Without them it would use only the first one.

select q.id as queue_id, :now + coalesce(:lease_ms, q.lease_ms) as lease_until,
       q.timeout_ms,
       iif(q.run_limit + q.rate_count + q.group_limit = 0, null,
           min(iif(q.run_limit = 0, 100000, q.run_limit -
-- include running
               ),
               iif(q.rate_count = 0, 100000, q.rate_count -
-- include started
               ))) as free,
       (q.group_limit > 0) + 2 * coalesce(q.holds_until > :now, 0)
       + 4 * (q.group_limit > 0 and q.group_lowered) as checks, q.group_limit,
       q.rate_count > 0 as has_rate
  from readpast_queue q
 where q.name = :queue and q.paused_at is null
   and (q.held_until is null or q.held_until <= :now);

-- answer:
select j.id, j.priority, j.attempt + 1 as attempt, j.max_attempts,
       iif(j.claim_no < :now_us, :now_us, j.claim_no + 1) as claim_no,
       j.run_at, j.created_at, @lease_until as lease_until,
       j.unique_key, j.kind, j.headers, j.payload, j.last_error, j.failures,
       @timeout_ms as timeout_ms,
       iif(j.extra is null and j.group_key is null, null,
           case when @checks and j.group_key is not null
                     and (@checks & 1 and j.came is null
                          or @checks & 4
                          and (@group_limit < (
                              select count(*) from readpast_group_slot
                               where queue_id = @queue_id
                                 and group_key = j.group_key)
                               and @group_limit <=
-- include slots_before
                               or exists (
                              select 1 from readpast_group_wait w
                               where w.queue_id = @queue_id
                                 and w.group_key = j.group_key
                                 and (w.priority, w.came, w.job_id)
                                     < (+j.priority, +j.came, +j.id)))
                          or @checks & 2
                          and exists (
                              select 1 from readpast_group_hold
                               where queue_id = @queue_id
                                 and group_key = j.group_key
                                 and until > :now)) then 2
                when j.extra is null then j.group_key
                else 1 end) as terms,
       j.class = 1 as suspect, @free as free, @has_rate as has_rate
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
