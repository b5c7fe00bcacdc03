-- list_to_come: the jobs of a queue that are to come into line, first due
-- first: those whose time has come already (:due), or the others.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::text as headers, payload, last_error,
       failures::text as failures
  from readpast.live
 where queue_id = (select id from readpast.queue where name = :queue::text)
   and seq is null and lease_until is null
   and (run_at <= clock_timestamp()) = (:due::bigint <> 0)
 order by run_at
 limit :max::bigint;
