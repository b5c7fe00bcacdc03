-- marks: show how far the sweep lags behind the claims in a lane (the jobs of one
-- queue, priority and class). Each ready job has a number. The lag is the difference
-- between the number that claims have reached and the number that the sweep has
-- reached. A lag of as many jobs as are claimed in two seconds is normal.

select q.name as queue, max(c.head) - min(c.low) as behind
  from cursor c
  join queue q on q.id = queue_of(c.lane_id)
 where c.lane_id > 0
 group by q.name, c.lane_id
having max(c.head) - min(c.low) > 200000
 order by 2 desc
 limit 5;
