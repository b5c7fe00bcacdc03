-- silent: workers that have not been heard of for half a minute and never said
-- that they stop.

select w.name as worker, w.host, w.pid, w.queues::text as queues,
       (extract(epoch from clock_timestamp() - w.seen_at) * 1000)::bigint
       as silent_ms
  from worker w
 where w.stopped_at is null
   and w.seen_at < clock_timestamp() - interval '30 seconds'
 order by w.seen_at
 limit 10;
