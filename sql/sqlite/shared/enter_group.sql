-- enter_group: the job @id, which is in the ready line, belongs to the group @group_key of
-- the queue @queue_id. If the group has a free slot and no other job waits, the job gets
-- the slot. Otherwise it is taken out of the line, and waits. A job that has a slot
-- already stays in the line, unless the group is held. The first statement has the guard
-- of the file that includes these statements.

with t as materialized (
  select q.group_limit, coalesce(
-- include is_held
         , 0) as held,
         (select came from readpast_job where id = @id) as came,
         exists (select 1 from readpast_group_wait
                  where queue_id = q.id and group_key = @group_key)
         or q.group_limit <=
-- include slots
         as full,
         1 + coalesce((select came from readpast_group_wait
                        where queue_id = q.id and group_key = @group_key
                          and priority = @priority
                        order by came desc limit 1), 0) as next
    from readpast_queue q
   where q.id = @queue_id)
select group_limit > 0 and came is null and not held and not full as fits,
       held or group_limit > 0 and came is null and full as waits,
       coalesce(came, max(next, :now_us)) as came
  from t;

-- include take_slot

-- if @waits:
-- include block
