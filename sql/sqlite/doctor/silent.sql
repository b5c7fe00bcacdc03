-- silent: workers that have not been heard of for half a minute and never said
-- that they stop.

select name as worker, host, pid, queues, :now_ms - seen_at as silent_ms
  from readpast_worker
 where stopped_at is null and seen_at < :now_ms - 30000
 order by seen_at
 limit 10;
