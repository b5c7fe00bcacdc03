-- list_kept: list kept jobs of a queue in one state, newest first.

select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers,
       pg_catalog.substr(payload, 1, :head::bigint::integer) as payload,
       last_error, failures::pg_catalog.text as failures, keep_ms,
       timeout_ms, expire_at, backoff::pg_catalog.text as backoff,
       unique_for_ms, group_key, progress,
       pg_catalog.substr(result, 1, :head::bigint::integer) as result, payload_total
  from readpast.kept
 where id operator(pg_catalog.=) any (array(
           select r.id
             from readpast.queue q
            cross join lateral readpast.kept_in(q.id, :state, :max) as r
            where q.name operator(pg_catalog.=) :queue))
 order by finished_at desc, id desc;
