-- worker_list: list the registered workers, by id, including those that died without
-- unregistering. To count the running jobs of each worker, the statement reads about
-- the first :most jobs of each lane of the workers' queues. (A lane is the jobs of one
-- queue, priority and class.)
-- running_at_least: true if a worker may have more running jobs than were counted.

with held as (
    select r.worker_id, pg_catalog.count(*) as running
      from (select distinct q.id
              from readpast.worker w
             cross join lateral pg_catalog.jsonb_array_elements_text(w.queues)
                                as e(name)
              join readpast.queue q on q.name operator(pg_catalog.=) e.name
             where w.stopped_at is null) q
     cross join lateral readpast.running_in(q.id, :most) as r
     group by r.worker_id)
select w.id, w.name, w.host, w.pid, w.queues::pg_catalog.text as queues,
       w.started_at, w.seen_at,
       greatest(readpast.to_ms(pg_catalog.clock_timestamp()
                               operator(pg_catalog.-) w.seen_at), 0)
       as silent_ms,
       coalesce(h.running, 0) as running, w.done, w.failed, w.dead, w.released,
       exists (select 1 from held where worker_id is null) as running_at_least
  from readpast.worker w
  left join held h on h.worker_id operator(pg_catalog.=) w.id
 where w.stopped_at is null
 order by w.id;
