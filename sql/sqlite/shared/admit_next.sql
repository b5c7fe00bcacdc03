-- admit_next: if the group @group_key of the queue @queue_id has a free slot, admit its
-- next job. If no job waits, or if the group is held, nothing changes. These statements
-- must be the last ones for a row, as in leave_group.

select w.job_id as next_id, w.priority as next_priority, w.came as next_came,
       1 as slotted
  from readpast_queue q
 cross join readpast_group_wait w
 where q.id = @queue_id and q.group_limit > 0
   and w.queue_id = q.id and w.group_key = @group_key
   and q.group_limit >
-- include slots
   and not coalesce(
-- include is_held
       , 0)
 order by w.priority, w.came
 limit 1;

-- include admit
