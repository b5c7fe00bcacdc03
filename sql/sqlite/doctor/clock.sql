-- clock: list workers whose last heartbeat has a time more than two seconds later than
-- now. The cause may be that this computer's clock was set back.

select 'worker ' || name as what, max(seen_at) - :now_ms as ahead_ms
  from readpast_worker
 where seen_at > :now_ms + 2000
 group by name
 order by 2 desc
 limit 1;
