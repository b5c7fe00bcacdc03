-- leases: list running jobs that have less than a quarter of their lease left. The
-- worker of such a job should have renewed the lease by now. Jobs of workers without a
-- recent heartbeat are left out, because the check `silent` lists these workers. In
-- each queue the query reads only the thousand running jobs whose leases end first.

select q.name as queue, count(*) as jobs, min(h.id) as example,
       coalesce(min(w.name), 'a client that is not a worker') as worker,
       min(h.lease_until) - :now_ms as left_ms,
       :now_ms - min(max(h.claim_no / 1000, h.lease_until - q.lease_ms))
       as lasts_ms
  from readpast_queue q
  join readpast_job h
    on h.id in (select id from readpast_job
                 where queue_id = q.id and lease_until is not null
                   and lease_until between :now_ms - 3000
                                       and :now_ms + q.lease_ms / 4
                 order by lease_until limit 1000)
  left join readpast_worker w on w.id = h.worker_id
 where h.claim_no / 1000 < :now_ms - q.lease_ms / 2
   and not (w.stopped_at is null and coalesce(w.seen_at < :now_ms - 30000, 0))
 group by q.name;
