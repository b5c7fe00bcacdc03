-- get_kept: return one job from the archive.

-- answer:
select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers, payload, last_error, failures, keep_ms, timeout_ms,
       expire_at, backoff, unique_for_ms, group_key, progress, result
  from readpast_kept
 where id = :id;
