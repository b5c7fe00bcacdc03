-- killers: list jobs whose lease ran out. Such a job may have killed its worker. Some
-- of these jobs are ready again, as suspects. The other jobs died within the last day,
-- when a lease ran out.

select k.id, k.queue, k.state, k.attempts,
       (extract(epoch from clock_timestamp() - k.since) * 1000)::bigint
       as lasts_ms
  from (select j.id, q.name as queue, 'ready again' as state,
               j.attempt || ' of ' || j.max_attempts as attempts,
               j.run_at as since
          from (select distinct l.lane_id from lane l
                 where class_of(l.lane_id) = 1) l
          join queue q on q.id = queue_of(l.lane_id)
          cross join lateral (select * from job j
                               where j.lane_id = l.lane_id
                                 and j.seq >= claims_start(l.lane_id)
                               order by j.lane_id, j.seq limit 10) j
        union all
        select a.id, q.name, 'dead', a.attempt || ' of ' || a.max_attempts,
               a.finished_at
          from queue q
          cross join lateral (select * from archive a
                               where a.queue_id = q.id and a.state = 5
                               order by a.queue_id desc, a.state desc,
                                        a.finished_at desc
                               limit 200) a
         where a.last_error like 'lease ran out, attempt %'
           and a.finished_at > clock_timestamp() - interval '1 day') k
 order by k.id desc
 limit 10;
