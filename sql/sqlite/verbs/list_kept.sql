-- list_kept: return the kept jobs of a queue that are in the state :state, newest first.

-- answer:
select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers,
       coalesce(substr(cast(payload as blob), 1, :head), x'') as payload,
       last_error, failures, keep_ms, timeout_ms, expire_at, backoff,
       unique_for_ms, group_key, progress,
       iif(result is null, null,
           coalesce(substr(cast(result as blob), 1, :head), x'')) as result,
       payload_total
  from readpast_kept
 where queue_id = (select id from readpast_queue where name = :queue)
   and state = :state
 order by finished_at desc, id desc
 limit :max;
