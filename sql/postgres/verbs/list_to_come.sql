-- list_to_come: the jobs of a queue that are to come into line, first due
-- first: those whose time has come already (:due), or the others.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers,
       pg_catalog.substr(payload, 1, :head::bigint::integer) as payload,
       last_error, failures::pg_catalog.text as failures, payload_total
  from readpast.live
 where queue_id operator(pg_catalog.=) (
           select id from readpast.queue
            where name operator(pg_catalog.=) :queue)
   and seq is null and lease_until is null
   and (run_at operator(pg_catalog.<=) pg_catalog.clock_timestamp())
       operator(pg_catalog.=) :due::bigint::integer::boolean
 order by run_at
 limit :max::bigint;
