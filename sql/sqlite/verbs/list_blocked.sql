-- list_blocked: return jobs of a queue that wait for their group, group by group, in the
-- order in which they will be admitted.

-- answer:
select j.id, j.queue, j.state, j.priority, j.attempt, j.max_attempts,
       j.claim_no, j.worker, j.run_at, j.created_at, j.claimed_at,
       j.lease_until, j.finished_at, j.unique_key, j.kind, j.headers,
       coalesce(substr(cast(j.payload as blob), 1, :head), x'') as payload,
       j.last_error, j.failures, j.keep_ms, j.timeout_ms, j.expire_at,
       j.backoff, j.unique_for_ms, j.group_key, j.progress, j.result,
       j.payload_total
  from readpast_group_wait w
 cross join readpast_live j
 where w.queue_id = (select id from readpast_queue where name = :queue)
   and j.id = w.job_id
 order by w.group_key, w.priority, w.came
 limit :max;
