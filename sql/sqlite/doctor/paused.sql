-- paused: list queues that have been paused for longer than :long_ms and have ready jobs.
-- If a hold, limit or rate lets no job start, its jobs are blocked, not ready.

select q.name as queue, :now_ms - q.paused_at as paused_ms,
       q.pause_reason, coalesce(': ' || q.pause_reason, '') as because
  from readpast_queue q
 where q.paused_at < :now_ms - :long_ms
   and (select stopped from readpast_stop where id = q.id) = 0
   and exists (select 1 from readpast_job
                where queue_id = q.id and seq is not null)
 order by q.paused_at
 limit 20;
