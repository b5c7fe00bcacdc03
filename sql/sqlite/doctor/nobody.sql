-- nobody: list queues that have ready jobs and that no client serves. A queue is served
-- if it has a live worker, if a client that is not a worker, or is no longer
-- registered, holds one of its jobs, or if one of its jobs has finished within the last
-- minute. The order is that of `late`, which would give another reason for a queue that
-- is not listed here.

select q.name as queue,
       (select count(*) from readpast_worker w, json_each(w.queues) e
         where w.stopped_at is null and e.value = q.name) as silent,
       max(0, :now_ms - (
-- include oldest_ready
       )) as lasts_ms
  from readpast_queue q
 where q.paused_at is null
   and (select stopped from readpast_stop where id = q.id) = 0
   and exists (select 1 from readpast_job
                where queue_id = q.id and seq is not null)
   and not exists (select 1 from readpast_worker w, json_each(w.queues) e
                    where w.stopped_at is null and e.value = q.name
                      and w.seen_at > :now_ms - 30000)
   and not exists (select 1 from readpast_tally
                    where queue_id = q.id and second > :now_ms / 1000 - 60
                      and done + failed > 0)
   and not exists (select 1
                     from (select worker_id from readpast_job
                            where queue_id = q.id and lease_until > :now_ms
                            order by lease_until limit 1000)
                    where worker_id = 0
                       or worker_id in (select id from readpast_worker
                                         where stopped_at is not null))
 order by lasts_ms desc, q.name
 limit 20;
