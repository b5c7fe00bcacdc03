-- clock: stored times that are later than now, for instance because the clock
-- was set back.

select 'worker ' || name as what, max(seen_at) - :now_ms as ahead_ms
  from readpast_worker
 where seen_at > :now_ms + 2000
 group by name
 order by 2 desc
 limit 1;
