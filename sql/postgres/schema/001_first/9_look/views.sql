-- views: jobs and schedules as clients and people see them.

-- Live jobs. The first columns are those that the entry `job` in sql/params lists, in
-- that order. The remaining columns are for filters and sorting.
create view readpast.live as
select j.id, q.name as queue,
       readpast.state_of(j, q) as state,
       readpast.priority_of(j.lane_id) as priority, j.attempt,
       j.max_attempts, j.claim_no, w.name as worker,
       case when j.seq is null and j.run_at = 'infinity'
            then coalesce(readpast.waits_since(j), j.created_at)
            else readpast.ready_at(j.run_at, j.lease_until, j.claim_no) end as run_at,
       j.created_at,
       case when j.lease_until is not null then readpast.at_us(j.claim_no) end
       as claimed_at,
       j.lease_until, null::timestamptz as finished_at, j.unique_key, j.kind,
       j.headers, j.payload, j.last_error, j.failures,
       (j.extra).keep_ms,
       coalesce((j.extra).timeout_ms, nullif(q.timeout_ms, 0)) as timeout_ms,
       (j.extra).expire_at, (j.extra).backoff, (j.extra).unique_for_ms,
       j.group_key, (j.extra).progress, null::bytea as result,
       octet_length(j.payload) as payload_total,
       j.queue_id, j.lane_id, j.seq
  from readpast.job j
  join readpast.queue q on q.id = j.queue_id
  left join readpast.worker w on w.id = j.worker_id;

-- Kept jobs, with the same columns as `live`.
create view readpast.kept as
select a.id, q.name as queue, a.state, a.priority, a.attempt, a.max_attempts,
       a.claim_no, a.worker, a.run_at, a.created_at,
       null::timestamptz as claimed_at, null::timestamptz as lease_until,
       a.finished_at, a.unique_key, a.kind, a.headers, a.payload,
       a.last_error, a.failures, (a.extra).keep_ms, (a.extra).timeout_ms,
       (a.extra).expire_at, (a.extra).backoff, (a.extra).unique_for_ms,
       a.group_key, (a.extra).progress, a.result,
       octet_length(a.payload) as payload_total,
       a.queue_id
  from readpast.archive a
  join readpast.queue q on q.id = a.queue_id;

-- All jobs, for people, with states as words and payloads as text. The results of done
-- jobs are in `kept`.
create view readpast.jobs as
select a.id, a.queue, readpast.state_word(a.state) as state, a.priority,
       a.attempt, a.max_attempts, a.claim_no, a.worker, a.run_at,
       a.created_at, a.lease_until, a.finished_at, a.unique_key, a.kind,
       a.headers, readpast.as_text(a.payload) as payload, a.last_error,
       a.keep_ms, a.timeout_ms, a.expire_at, a.backoff, a.unique_for_ms,
       a.group_key, a.progress
  from (select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error,
               keep_ms, timeout_ms, expire_at, backoff, unique_for_ms,
               group_key, progress
          from readpast.live
        union all
        select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error,
               keep_ms, timeout_ms, expire_at, backoff, unique_for_ms,
               group_key, progress
          from readpast.kept) a;

-- Schedules, for people. The column last_state has the state of the last job, or null
-- if that job no longer exists.
create view readpast.schedules as
select s.name, s.queue, s.spec, s.zone,
       readpast.as_text(s.content) as payload, s.kind, s.headers, s.priority,
       (array['once', 'all', 'skip'])[s.missed + 1] as missed,
       (array['allow', 'skip'])[s.overlap + 1] as overlap,
       s.next_at, s.last_at, s.last_job_id,
       (select j.state from readpast.jobs j
         where j.id = s.last_job_id) as last_state,
       s.last_error, s.paused_at, s.created_at
  from readpast.schedule s;
