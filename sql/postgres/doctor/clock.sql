-- clock: list stored times that are later than now, for instance because the clock
-- was set back.

select 'worker ' || w.name as what,
       (extract(epoch from max(w.seen_at) - clock_timestamp()) * 1000)::bigint
       as ahead_ms
  from worker w
 where w.seen_at > clock_timestamp() + interval '2 seconds'
 group by w.name
 order by 2 desc
 limit 1;
