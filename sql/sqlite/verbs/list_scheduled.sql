-- list_scheduled: return scheduled jobs of a queue, in the order of their run_at. If
-- :due is 1, only jobs whose run_at has come are returned. If :due is 0, only jobs
-- whose run_at is in the future are returned.

-- answer:
select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers,
       coalesce(substr(cast(payload as blob), 1, :head), x'') as payload,
       last_error, failures, keep_ms, timeout_ms, expire_at, backoff,
       unique_for_ms, group_key, progress, result,
       payload_total
  from readpast_live
 where queue_id = (select id from readpast_queue where name = :queue)
   and seq is null and lease_until is null
   and due_at > iif(:due, -9223372036854775808, :now)
   and due_at <= iif(:due, :now, 9223372036854775807)
   and due_at < 9223372036854775807
 order by due_at
 limit :max;
