-- waits_unheld: 1 if a job of queue q waits for a group that is not held. Only the
-- first thousand groups are examined.

with recursive waiting(place, group_key) as (
  select 1, (select group_key from readpast_group_wait
              where queue_id = q.id
              order by group_key limit 1)
  union all
  select place + 1, (select w.group_key from readpast_group_wait w
                      where w.queue_id = q.id
                        and w.group_key > waiting.group_key
                      order by w.group_key limit 1)
    from waiting
   where group_key is not null and place < 1000)
select 1 from waiting
 where group_key is not null
   and not exists (select 1 from readpast_group_hold h
                    where h.queue_id = q.id
                      and h.group_key = waiting.group_key and h.until > :now)
 limit 1
