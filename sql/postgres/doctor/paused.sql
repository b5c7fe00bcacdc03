-- paused: list queues that have ready jobs and have been paused for longer than
-- :long_ms. If a hold, limit or rate lets no job start, its jobs are blocked, not ready.

select q.name as queue,
       (extract(epoch from clock_timestamp() - q.paused_at) * 1000)::bigint
       as paused_ms,
       q.pause_reason, coalesce(': ' || q.pause_reason, '') as because
  from queue q
 where q.paused_at < clock_timestamp() - :long_ms::bigint * interval '1 ms'
   and not is_full(q.id)
   and exists (select 1
                 from (select distinct l.lane_id from lane l
                        where l.lane_id between first_lane(q.id)
                                            and last_lane(q.id)) l
                where exists (select 1 from job j
                               where j.lane_id = l.lane_id
                                 and j.seq >= claims_start(l.lane_id)
                                 and j.lease_until is null))
 order by q.paused_at
 limit 20;
