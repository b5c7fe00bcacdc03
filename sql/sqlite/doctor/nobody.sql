-- nobody: queues that have jobs ready, and nobody who serves them.

select q.name as queue,
       (select count(*) from readpast_worker w, json_each(w.queues) e
         where w.stopped_at is null and e.value = q.name) as silent
  from readpast_queue q
 where q.paused_at is null
   and exists (select 1 from readpast_job
                where queue_id = q.id and seq is not null)
   and not exists (select 1 from readpast_worker w, json_each(w.queues) e
                    where w.stopped_at is null and e.value = q.name
                      and w.seen_at > :now_ms - 30000)
   and not exists (select 1 from readpast_tally
                    where queue_id = q.id and second > :now_ms / 1000 - 60)
 order by q.name
 limit 20;
