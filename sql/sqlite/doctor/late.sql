-- late: list queues whose first ready job has waited for longer than :long_ms, and
-- whose ready jobs would take more than an hour at the rate of the last minute. Queues
-- that are paused, or whose hold, limit or rate lets no job start now, are left out. The
-- number of ready jobs is an estimate. In each lane (the ready jobs of one priority and
-- class) the query subtracts the seq of the first job from the seq of the last one.

with recursive lane(queue_id, priority, class) as (
  select q.id, j.priority, j.class
    from readpast_queue q
    join readpast_job j
      on j.id = (select id from readpast_job
                  where queue_id = q.id and seq is not null
                  order by priority, class, seq limit 1)
   where q.paused_at is null
     and (select stopped from readpast_stop where id = q.id) = 0
  union all
  select l.queue_id, n.priority, n.class
    from lane l
    join readpast_job n
      on n.id = coalesce(
           (select id from readpast_job
             where queue_id = l.queue_id and seq is not null
               and priority = l.priority and class > l.class
             order by class, seq limit 1),
           (select id from readpast_job
             where queue_id = l.queue_id and seq is not null
               and priority > l.priority
             order by priority, class, seq limit 1)))
select queue, waits_ms, in_line, per_minute
  from (select q.name as queue, :now_ms - min(f.run_at) as waits_ms,
               sum(max(e.seq - f.seq + 1, 1)) as in_line,
               (select coalesce(sum(t.done + t.failed), 0)
                  from readpast_tally t
                 where t.queue_id = q.id and t.second > :now_ms / 1000 - 60)
               as per_minute
          from lane l
          join readpast_queue q on q.id = l.queue_id
          join readpast_job f
            on f.id = (select id from readpast_job
                        where queue_id = l.queue_id and priority = l.priority
                          and class = l.class and seq is not null
                        order by seq limit 1)
          join readpast_job e
            on e.id = (select id from readpast_job
                        where queue_id = l.queue_id and priority = l.priority
                          and class = l.class and seq is not null
                        order by seq desc limit 1)
         group by q.id)
 where waits_ms > :long_ms and in_line > per_minute * 60
 order by waits_ms desc, queue
 limit 20;
