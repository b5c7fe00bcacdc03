-- oldest_ready: return the time at which the oldest ready job of the queue q became
-- ready. That job is the first job of its lane (the ready jobs of one priority and
-- class). The recursion visits the first job of each lane, with one or two index
-- searches each. (The recursion compares class and priority one by one, because for a
-- comparison of row values SQLite would scan all jobs of the priority.)

with recursive head(id) as (
    select (select id from readpast_job
             where queue_id = q.id and seq is not null
             order by priority, class, seq limit 1)
    union all
    select coalesce(
             (select n.id from readpast_job n
               where n.queue_id = q.id and n.seq is not null
                 and n.priority = h.priority and n.class > h.class
               order by n.class, n.seq limit 1),
             (select n.id from readpast_job n
               where n.queue_id = q.id and n.seq is not null
                 and n.priority > h.priority
               order by n.priority, n.class, n.seq limit 1))
      from head join readpast_job h on h.id = head.id)
select min(j.run_at) from head join readpast_job j on j.id = head.id
