-- export: return the stored rows of live and kept jobs with ids above :after and up to
-- :until, by id. :queues is a JSON array of the names of the queues.
-- At most :max rows are returned. The C code that reads the rows stops after :size bytes
-- of payload. Kept jobs that a sweep will delete within :spare_ms are left out.
-- A job that waits for its group is returned as a scheduled job that is due.
-- state is 3 for a running job and 1 for any other live job. For a kept job it is the
-- state in which the job ended.

-- answer:
select j.id, q.name as queue, iif(j.lease_until is null, 1, 3) as state,
       j.priority, j.class, j.seq,
-- include run_at
       as run_at, j.claim_no, j.attempt,
       j.lost, j.max_attempts, null as worker, j.created_at, null as finished_at,
       j.unique_key, j.kind, j.headers,
       iif(j.payload < '',
           (select payload from readpast_payload where id = j.id), j.payload)
       as payload, j.last_error, j.failures, j.extra ->> 'keep_ms' as keep_ms,
       j.extra ->> 'timeout_ms' as timeout_ms,
       j.expire_at, j.extra ->> 'backoff' as backoff,
       j.extra ->> 'unique_for_ms' as unique_for_ms,
       j.group_key,
       j.extra ->> 'progress' as progress, null as result
  from readpast_job j
 cross join readpast_queue q
 where j.id > :after and j.id <= :until and q.id = j.queue_id
   and q.name in (select value from json_each(:queues))
union all
select a.id, q.name, a.state,
       a.priority, 2, null, a.run_at, a.claim_no, a.attempt,
       0, a.max_attempts, a.worker, a.created_at, a.finished_at,
       a.unique_key, a.kind, a.headers,
       iif(a.payload < '',
           (select payload from readpast_payload where id = a.id), a.payload),
       a.last_error, a.failures, a.keep_ms, a.extra ->> 'timeout_ms',
       a.expire_at, a.extra ->> 'backoff',
       a.extra ->> 'unique_for_ms', a.group_key,
       a.extra ->> 'progress', a.result
  from readpast_archive a
 cross join readpast_queue q
 where a.id > :after and a.id <= :until and q.id = a.queue_id
   and q.name in (select value from json_each(:queues))
   and a.finished_at + iif(a.state = 4, coalesce(a.keep_ms, q.keep_done_ms),
                           max(coalesce(a.keep_ms, 0), q.keep_dead_ms))
       > :now + :spare_ms
 order by 1
 limit :max;
