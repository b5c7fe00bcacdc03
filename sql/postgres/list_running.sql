-- list_running: the jobs of a queue that are held, the longest held first.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::text as headers, payload, last_error,
       failures::text as failures
  from readpast.live
 where queue_id = (select id from readpast.queue where name = :queue::text)
   and lease_until is not null
 order by claim_no, id
 limit :max::bigint;
