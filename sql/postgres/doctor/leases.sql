-- leases: list running jobs with less than a quarter of their lease left. Their worker
-- should have renewed the lease by now. Jobs of workers without a recent heartbeat are
-- left out, because the check `silent` lists these workers. To limit its cost, the
-- query reads only the first thousand jobs of each lane (the ready line of one queue,
-- priority and class), and the first thousand jobs of each queue that are not in the
-- ready line.

select q.name as queue, count(*) as jobs, min(h.id) as example,
       coalesce(min(w.name), 'a client that is not a worker') as worker,
       (extract(epoch from min(h.lease_until) - clock_timestamp())
        * 1000)::bigint as left_ms,
       (extract(epoch from clock_timestamp()
                - min(greatest(at_us(h.claim_no),
                               h.lease_until - q.lease_ms * interval '1 ms')))
        * 1000)::bigint as lasts_ms
  from queue q
  cross join lateral (
       select e.* from (
         select j.id, j.lease_until, j.claim_no, j.worker_id
           from (select distinct l.lane_id from lane l
                  where l.lane_id between first_lane(q.id)
                                      and last_lane(q.id)) l
           cross join lateral (select * from job j
                                where j.lane_id = l.lane_id
                                  and j.seq >= low_water(l.lane_id)
                                order by j.lane_id, j.seq limit 1000) j
         union all
         select j.id, j.lease_until, j.claim_no, j.worker_id
           from (select * from job j
                  where (j.queue_id, j.run_at) >= (q.id, due_since())
                    and (j.queue_id, j.run_at) < (q.id, 'infinity')
                    and j.seq is null and j.run_at < 'infinity'
                  order by j.queue_id, j.run_at limit 1000) j) e
        where e.lease_until is not null) h
  left join worker w on w.id = h.worker_id
 where h.lease_until < clock_timestamp() + q.lease_ms / 4 * interval '1 ms'
   and h.lease_until > clock_timestamp() - interval '3 seconds'
   and at_us(h.claim_no) < clock_timestamp() - q.lease_ms / 2 * interval '1 ms'
   and not (w.stopped_at is null
            and coalesce(w.seen_at < clock_timestamp() - seen_age(), false))
 group by q.name;
