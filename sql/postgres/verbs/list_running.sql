-- list_running: list the running jobs of a queue, the longest running first. The
-- statement reads only about the first :looks jobs of each lane (the jobs of one
-- priority and class).
-- partial: true if there may be running jobs that were not read. If no running job was
-- read but there may be some, the result is a single row without an id.

with held as (
    select r.id as held_id, r.claim_no as held_no
      from readpast.queue q
     cross join lateral readpast.running_in(q.id, :looks) as r
     where q.name operator(pg_catalog.=) :queue)
select id, queue, state, priority, attempt, max_attempts, claim_no, worker,
       run_at, created_at, claimed_at, lease_until, finished_at, unique_key,
       kind, headers::pg_catalog.text as headers,
       pg_catalog.substr(payload, 1, :head::bigint::integer) as payload,
       last_error, failures::pg_catalog.text as failures, keep_ms,
       timeout_ms, expire_at, backoff::pg_catalog.text as backoff,
       unique_for_ms, group_key, progress,
       result, payload_total,
       p.partial
  from (select exists (select 1 from held where held_id is null) as partial) p
  left join readpast.live
    on id operator(pg_catalog.=) any (array(
           select held_id
             from held
            where held_id is not null
            order by held_no, held_id
            limit :max::bigint))
 order by claim_no, id;
