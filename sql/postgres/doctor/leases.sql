-- leases: of the jobs that are looked for first when leases end, those whose
-- lease is three quarters over: who holds them should have renewed it. Looks at
-- the first thousand of each lane and queue.

select q.name as queue, count(*) as jobs, min(h.id) as example,
       coalesce(min(w.name), 'a client that is no worker') as worker,
       (extract(epoch from min(h.lease_until) - clock_timestamp())
        * 1000)::bigint as left_ms
  from queue q
  cross join lateral (
       select e.* from (
         select j.id, j.lease_until, j.claim_no, j.worker_id
           from (select distinct l.lane_id from lane l
                  where l.lane_id between q.id::bigint * 1024
                                      and q.id::bigint * 1024 + 1023) l
           cross join lateral (select * from job j
                                where j.lane_id = l.lane_id
                                  and j.seq >= low_of(l.lane_id)
                                order by j.lane_id, j.seq limit 1000) j
         union all
         select j.id, j.lease_until, j.claim_no, j.worker_id
           from (select * from job j
                  where j.queue_id = q.id and j.seq is null
                    and j.run_at >= due_since(q.id)
                  order by j.queue_id, j.run_at limit 1000) j) e
        where e.lease_until is not null) h
  left join worker w on w.id = h.worker_id
 where h.lease_until < clock_timestamp() + q.lease_ms / 4 * interval '1 ms'
   and h.lease_until > clock_timestamp() - interval '3 seconds'
   and at_us(h.claim_no) < clock_timestamp() - q.lease_ms / 2 * interval '1 ms'
 group by q.name;
