-- marks: how far the sweep's walk is behind the claims, in places of the line.
-- Under full load that is what is claimed in a second or two.

select q.name as queue, max(m.head) - low_of(m.lane_id) as behind
  from (select distinct l.lane_id from lane l) l
  join queue q on q.id = queue_of(l.lane_id)
  cross join lateral (select m.lane_id, m.head from mark m
                       where m.lane_id = l.lane_id
                       order by m.lane_id desc, m.head desc limit 1) m
 group by q.name, m.lane_id
having max(m.head) - low_of(m.lane_id) > 200000
 order by 2 desc
 limit 5;
