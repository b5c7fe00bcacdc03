-- enter_group: decide whether the job @id of the group @group_key of the queue
-- @queue_id may stay in the ready line. If the group is held, the job leaves the line
-- and waits. If the group is not held but the queue has a group limit, the job needs a
-- slot (the right of one job to run). The job keeps the slot that it has, or gets a free
-- slot if no other job of the group waits. A job without a slot leaves the line and
-- waits. The `came` of a job that enters the group is larger than that of all jobs of the
-- same priority that wait or have a slot, even if they came in the same microsecond.
-- An `if` before the line that includes this file applies only to the first statement. If
-- that statement is not run, the other statements do nothing.

with t as materialized (
  select q.group_limit, coalesce(
-- include is_held
         , 0) as held,
         (select came from readpast_job where id = @id) as came,
-- include is_full
         as full,
         1 + max(coalesce((select came from readpast_group_wait
                            where queue_id = q.id and group_key = @group_key
                              and priority = @priority
                            order by came desc limit 1), 0),
                 coalesce((select max(k.came) from readpast_group_slot s
                            cross join readpast_job k
                            where s.queue_id = q.id and s.group_key = @group_key
                              and k.id = s.job_id
                              and k.priority = @priority), 0)) as next
    from readpast_queue q
   where q.id = @queue_id)
select group_limit > 0 and came is null and not held and not full as fits,
       held or group_limit > 0 and came is null and full as waits,
       coalesce(came, max(next, :now_us)) as came
  from t;

-- include take_slot

-- if @waits:
-- include block
