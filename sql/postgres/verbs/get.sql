-- get: return the live job :id. There is no row if no live job has this id.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers, payload, last_error,
       failures::pg_catalog.text as failures, keep_ms, timeout_ms, expire_at,
       backoff::pg_catalog.text as backoff, unique_for_ms, group_key, progress, result
  from readpast.live
 where id operator(pg_catalog.=) :id::bigint;
