-- groups: list groups in which jobs wait although no job of the group has a slot, and no
-- recheck request is left for it. While the group has a hold, even one that is over, a
-- sweep will examine it. No group may ever be in this state. The query examines at most
-- 2,000 waiting jobs.

select q.name as queue, w.group_key as "group",
       (extract(epoch from clock_timestamp() - min(w.run_at)) * 1000)::bigint
       as waits_ms,
       (array_agg(w.job_id order by w.priority, w.came))[1] as example
  from (select * from group_wait limit 2000) w
  join queue q on q.id = w.queue_id and q.paused_at is null
 where not exists (select from group_slot s
                     join job j on j.id = s.job_id and j.queue_id = s.queue_id
                    where s.queue_id = w.queue_id and s.group_key = w.group_key)
   and not (has_requests(w.queue_id)
            and exists (select from group_recheck r
                         where r.queue_id = w.queue_id
                           and (r.group_key = w.group_key or r.and_later)))
   and not exists (select from group_hold h
                    where h.queue_id = w.queue_id and h.group_key = w.group_key)
 group by q.name, w.group_key
having min(w.run_at) < clock_timestamp() - interval '10 seconds'
 order by min(w.run_at)
 limit 20;
