-- list_scheduled: list scheduled jobs of a queue, in the order of their run_at. If :due
-- is 1, only jobs whose run_at has come are listed. If :due is 0, only jobs whose
-- run_at is in the future are listed.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers,
       pg_catalog.substr(payload, 1, :head::bigint::integer) as payload,
       last_error, failures::pg_catalog.text as failures, keep_ms,
       timeout_ms, expire_at, backoff::pg_catalog.text as backoff,
       unique_for_ms, group_key, progress,
       result, payload_total
  from readpast.live
 where id operator(pg_catalog.=) any (array(
           select r.id
             from readpast.queue q
            cross join lateral readpast.scheduled_in(
                                   q.id, :due::bigint::integer::boolean, :max)
                               as r
            where q.name operator(pg_catalog.=) :queue))
 order by run_at;
