-- stats: one queue, or all by name (:queue null): what it has, how old the
-- oldest is, how much was finished in the last ten seconds, who serves it.
-- The oldest ready job is at the head of some lane; the recursion steps from
-- lane to lane, a seek each.

-- answer:
select q.name as queue, q.paused_at is not null as paused,
       (select count(*) from readpast_job
         where queue_id = q.id and seq is null and lease_until is null
           and run_at > :now) as scheduled,
       (select count(*) from readpast_job
         where queue_id = q.id and seq is not null)
       + (select count(*) from readpast_job
           where queue_id = q.id and seq is null and lease_until is null
             and run_at <= :now) as ready,
       (select count(*) from readpast_job
         where queue_id = q.id and lease_until is not null) as running,
       (select count(*) from readpast_archive
         where queue_id = q.id and state = 4) as done,
       (select count(*) from readpast_archive
         where queue_id = q.id and state = 5) as dead,
       (select count(*) from readpast_archive
         where queue_id = q.id and state = 6) as cancelled,
       max(0, :now - (with recursive head(id) as (
               select (select id from readpast_job
                        where queue_id = q.id and seq is not null
                        order by priority, class, seq limit 1)
               union all
               select (select n.id from readpast_job n
                        where n.queue_id = q.id and n.seq is not null
                          and (n.priority, n.class) > (h.priority, h.class)
                        order by n.priority, n.class, n.seq limit 1)
                 from head join readpast_job h on h.id = head.id)
           select min(j.run_at) from head join readpast_job j on j.id = head.id
       )) as oldest_ready_ms,
       max(0, :now - (select min(claim_no) / 1000 from readpast_job
                       where queue_id = q.id and lease_until is not null))
       as longest_running_ms,
       (select count(*) from readpast_worker w
         where w.stopped_at is null and w.seen_at > :now - 30000
           and exists (select 1 from json_each(w.queues) e
                        where e.value = q.name)) as workers,
       (select coalesce(sum(done), 0) from readpast_tally
         where queue_id = q.id and second > :now / 1000 - 10) as done_recently,
       (select coalesce(sum(failed), 0) from readpast_tally
         where queue_id = q.id and second > :now / 1000 - 10) as failed_recently
  from readpast_queue q
 where q.name = coalesce(:queue, q.name)
 order by q.name;
