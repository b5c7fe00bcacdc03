-- groups: list stuck groups. Jobs of such a group wait, but none of its jobs has a slot
-- (the right to run), and no sweep is due to admit a job. While the group has a hold, even
-- one that is over, a sweep will examine it. In each queue, only the first 10,000 groups
-- that have waiting jobs are checked.

with recursive waiting(queue_id, place, group_key) as (
  select q.id, 1, (select group_key from readpast_group_wait
                    where queue_id = q.id
                    order by group_key limit 1)
    from readpast_queue q
   where q.group_scan is null
  union all
  select w.queue_id, w.place + 1,
         (select n.group_key from readpast_group_wait n
           where n.queue_id = w.queue_id and n.group_key > w.group_key
           order by n.group_key limit 1)
    from waiting w
   where w.group_key is not null and w.place < 10000)
select q.name as queue, w.group_key as 'group', :now_ms - j.run_at as waits_ms,
       j.job_id as example
  from waiting w
  join readpast_queue q on q.id = w.queue_id
  join readpast_group_wait j
    on j.job_id = (select job_id from readpast_group_wait
                    where queue_id = w.queue_id and group_key = w.group_key
                    order by priority, came limit 1)
 where w.group_key is not null
   and j.run_at < :now_ms - 10000
   and not exists (select 1 from readpast_group_slot s
                    cross join readpast_job k
                    where s.queue_id = w.queue_id and s.group_key = w.group_key
                      and k.id = s.job_id)
   and not exists (select 1 from readpast_group_hold
                    where queue_id = w.queue_id and group_key = w.group_key)
 order by waits_ms desc
 limit 20;
