-- sweep: list the job of each queue that a sweep should have moved first, if that was
-- some seconds ago. The job is due, its lease is over, or the hold of its group is over.

select q.name as queue, e.since::text as since,
       (extract(epoch from clock_timestamp() - e.since) * 1000)::bigint
       as late_ms,
       (extract(epoch from clock_timestamp() - e.since) * 1000)::bigint
       as lasts_ms, e.id as example
  from queue q
  cross join lateral (
       (select j.id, j.run_at as since from job j
         where (j.queue_id, j.run_at) >= (q.id, due_since())
           and (j.queue_id, j.run_at)
               < (q.id, (select clock_timestamp()) - interval '3 seconds')
           and j.seq is null and j.run_at < 'infinity'
         order by j.queue_id, j.run_at limit 1)
       union all
       (select h.id, h.lease_until
          from (select distinct l.lane_id from lane l
                 where l.lane_id between first_lane(q.id)
                                     and last_lane(q.id)) l
         cross join lateral (select j.id, j.lease_until from job j
                              where j.lane_id = l.lane_id
                                and j.seq >= low_water(l.lane_id)
                              order by j.lane_id, j.seq limit 1000) h
         where h.lease_until < clock_timestamp() - interval '3 seconds')
       union all
       (select w.job_id, h.until
          from group_hold h
         cross join lateral (select w.job_id from group_wait w
                              where w.queue_id = h.queue_id
                                and w.group_key = h.group_key
                              order by w.queue_id, w.group_key, w.priority, w.came
                              limit 1) w
         where h.queue_id = q.id and q.paused_at is null
           and h.until < clock_timestamp() - interval '3 seconds'
         order by h.until limit 1)
       order by since limit 1) e;
