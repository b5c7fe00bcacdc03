-- worker_list: who serves, or did and never said that it stopped; by id.

-- answer:
select w.id, w.name, w.host, w.pid, w.queues, w.started_at, w.seen_at,
       max(0, :now - w.seen_at) as silent_ms,
       (select count(*) from readpast_job j
         where j.lease_until is not null and j.worker_id = w.id) as running,
       w.done, w.failed, w.dead, w.released
  from readpast_worker w
 where w.stopped_at is null
 order by w.id;
