-- list_blocked: list jobs of a queue that wait for their group, group by group, in the
-- order in which they will be admitted.

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
            cross join lateral readpast.blocked_in(q.id, :max) as r
            where q.name operator(pg_catalog.=) :queue))
 order by group_key, priority,
          (select j.came
             from readpast.job j
            where j.id operator(pg_catalog.=) live.id);
