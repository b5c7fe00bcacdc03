-- list_running: the jobs of a queue that are held, the longest held first.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers,
       pg_catalog.substr(payload, 1, :head::bigint::integer) as payload,
       last_error, failures::pg_catalog.text as failures, payload_total
  from readpast.live
 where queue_id operator(pg_catalog.=) (
           select id from readpast.queue
            where name operator(pg_catalog.=) :queue)
   and lease_until is not null
 order by claim_no, id
 limit :max::bigint;
