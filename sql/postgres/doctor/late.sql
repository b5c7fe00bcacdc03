-- late: list queues whose first ready job has waited for longer than :long_ms, and
-- whose ready jobs would take more than an hour at the rate of the last minute. Queues
-- that are paused, or whose hold, limit or rate lets no job start now, are left out. The
-- query does not count the ready jobs, but estimates how many there are from their `seq`. To
-- do so, the query subtracts the `seq` of the first job from the `seq` of the last job. All
-- queues and priorities draw `seq` from the same sequence, so the estimate may be too
-- high.

select l.queue, l.waits_ms, l.in_line, l.per_minute
  from (select q.name as queue,
               (extract(epoch from clock_timestamp() - min(f.run_at))
                * 1000)::bigint as waits_ms,
               sum(greatest(e.seq - f.seq + 1, 1))::bigint as in_line,
               (select coalesce(sum(t.done + t.failed), 0)::bigint
                  from tally t
                 where t.queue_id = q.id
                   and t.second > extract(epoch from clock_timestamp()) - 60)
               as per_minute
          from queue q
          join (select distinct l.lane_id from lane l) l
            on queue_of(l.lane_id) = q.id
          cross join lateral (select j.seq, j.run_at from job j
                               where j.lane_id = l.lane_id
                                 and j.seq >= claims_start(l.lane_id)
                                 and j.lease_until is null
                               order by j.lane_id, j.seq limit 1) f
          cross join lateral (select j.seq from job j
                               where j.lane_id = l.lane_id
                                 and j.seq is not null
                               order by j.lane_id desc, j.seq desc limit 1) e
         where q.paused_at is null
           and not is_full(q.id)
         group by q.id, q.name) l
 where l.waits_ms > :long_ms::bigint and l.in_line > l.per_minute * 60
 order by l.waits_ms desc, l.queue
 limit 20;
