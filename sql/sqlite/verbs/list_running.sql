-- list_running: return the running jobs of a queue, the longest running first. Only the
-- :looks jobs whose leases end first are considered. partial is 1 if the queue has more
-- than :looks running jobs.

-- answer:
select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers,
       coalesce(substr(cast(payload as blob), 1, :head), x'') as payload,
       last_error, failures, keep_ms, timeout_ms, expire_at, backoff,
       unique_for_ms, group_key, progress, result,
       payload_total,
       exists (select 1 from readpast_job indexed by readpast_job_held
                where queue_id = (select id from readpast_queue
                                   where name = :queue)
                  and lease_until is not null
                limit 1 offset :looks) as partial
  from readpast_live
 where id in (select id from readpast_job indexed by readpast_job_held
               where queue_id = (select id from readpast_queue
                                  where name = :queue)
                 and lease_until is not null
               order by lease_until
               limit :looks)
 order by claim_no, id
 limit :max;
