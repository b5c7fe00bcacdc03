-- nobody: queues that have jobs ready, and nobody who serves them.

select q.name as queue,
       (select count(*) from worker w
         where w.stopped_at is null and w.queues ? q.name) as silent
  from queue q
  cross join lateral look(q.name) l
 where l.ready and not l.paused
   and not exists (select 1 from worker w
                    where w.stopped_at is null and w.queues ? q.name
                      and w.seen_at > clock_timestamp() - interval '30 seconds')
   and not exists (select 1 from tally t
                    where t.queue_id = q.id
                      and t.second > extract(epoch from clock_timestamp())
                                     - 60)
 order by q.name
 limit 20;
