-- list_line: return the jobs in a queue's ready line, in the order in which they will be
-- claimed.

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
   and seq is not null
 order by priority, class, seq
 limit :max;
