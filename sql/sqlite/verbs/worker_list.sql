-- worker_list: return the workers that have not unregistered, by id. Workers that died
-- are included, because they did not unregister. The statement reads at most :most
-- running jobs of the database; running is the number of these jobs that the worker
-- holds. running_at_least is 1 if the database has more than :most running jobs.

-- answer:
with held (worker_id, running) as materialized (
  select worker_id, count(*)
    from (select worker_id
            from readpast_job indexed by readpast_job_held
           where lease_until is not null
           limit :most)
   group by worker_id)
select w.id, w.name, w.host, w.pid, w.queues, w.started_at, w.seen_at,
       max(0, :now - w.seen_at) as silent_ms,
       coalesce((select h.running from held h where h.worker_id = w.id), 0)
       as running,
       w.done, w.failed, w.dead, w.released,
       exists (select 1 from readpast_job indexed by readpast_job_held
                where lease_until is not null
                limit 1 offset :most) as running_at_least
  from readpast_worker w
 where w.stopped_at is null
 order by w.id;
