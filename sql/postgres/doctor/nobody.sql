-- nobody: list queues that have ready jobs and that no client serves. A queue is served
-- if it has a live worker, if a client that is not a worker, or is no longer
-- registered, holds one of its jobs, or if one of its jobs has finished within the last
-- minute. The order is that of `late`, which would give another reason for a queue that
-- is not listed here.

select q.name as queue,
       (select count(*) from worker w
         where w.stopped_at is null and w.queues ? q.name) as silent,
       greatest((extract(epoch from clock_timestamp() - r.since) * 1000)::bigint, 0)
       as lasts_ms
  from queue q
  cross join lateral probe(q.name) l
  cross join lateral (
       select min(f.run_at) as since
         from (select distinct l.lane_id from lane l
                where l.lane_id between first_lane(q.id)
                                    and last_lane(q.id)) l
        cross join lateral (select j.run_at from job j
                             where j.lane_id = l.lane_id
                               and j.seq >= claims_start(l.lane_id)
                               and j.lease_until is null
                             order by j.lane_id, j.seq limit 1) f) r
 where l.ready and not l.paused and r.since is not null
   and not exists (select 1 from worker w
                    where w.stopped_at is null and w.queues ? q.name
                      and w.seen_at > clock_timestamp() - seen_age())
   and not exists (select 1 from tally t
                    where t.queue_id = q.id
                      and t.second > extract(epoch from clock_timestamp())
                                     - 60
                      and t.done + t.failed > 0)
   and not exists (select 1
                     from running_in(q.id, 1000) r
                     join job h on h.id = r.id and h.claim_no = r.claim_no
                     left join worker w on w.id = h.worker_id
                    where h.lease_until > clock_timestamp()
                      and (h.worker_id = 0 or w.stopped_at is not null))
 order by r.since, q.name
 limit 20;
