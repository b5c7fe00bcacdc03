-- extra: return the values that only few jobs have: the job's own settings, its progress
-- and its group. If the column extra of the job is null, no row is returned.

-- answer:
select j.extra ->> 'keep_ms' as keep_ms,
       coalesce(j.extra ->> 'timeout_ms', nullif(q.timeout_ms, 0))
       as timeout_ms,
       j.expire_at, j.extra ->> 'backoff' as backoff,
       j.extra ->> 'unique_for_ms' as unique_for_ms,
       j.extra ->> 'progress' as progress,
       j.group_key
  from readpast_job j
 cross join readpast_queue q
 where j.id = :id and j.extra is not null and q.id = j.queue_id;
