-- jobs: a view of all live and kept jobs, for people. It shows states as words and
-- payloads as text.
-- Locks: the locks of any query at the session's isolation level.

create view [readpast].jobs
as
select j.id, q.name as queue,
       case when j.lease_until is not null then N'running'
            when j.lane_id > 0 or j.run_at <= sysutcdatetime() then N'ready'
            else N'scheduled' end as state,
       j.priority, j.attempt, j.max_attempts, j.claim_no, w.name as worker, j.run_at,
       j.created_at, j.lease_until, cast(null as datetime2(3)) as finished_at,
       j.unique_key, j.kind, j.headers, [readpast].text_of(j.payload) as payload,
       j.last_error, j.failures
  from [readpast].job as j
 inner join [readpast].queue as q on q.id = j.queue_id
  left join [readpast].worker as w on w.id = j.worker_id
union all
select a.id, q.name, [readpast].state_word(a.state), a.priority, a.attempt,
       a.max_attempts, a.claim_no, a.worker, a.run_at, a.created_at,
       cast(null as datetime2(3)), a.finished_at, a.unique_key, a.kind, a.headers,
       [readpast].text_of(a.payload), a.last_error, a.failures
  from [readpast].archive as a
 inner join [readpast].queue as q on q.id = a.queue_id;
