-- stay_or_wait: the job @id of the group @group_key of the queue @queue_id is in the
-- ready line, but may not start. @slotted is 1 if the job has a slot (the right of one job
-- to run). @priority and @came are its place among the jobs of its group.
-- If a job without a slot finds all slots in use, it takes the slot from the last ready
-- job of the group, but only if that job comes after it. That job then waits. A job that
-- has, has found or has taken a slot keeps it if its group is not held, no waiting job
-- comes before it, and the jobs that run or come before it do not use all slots. (Since the
-- caller examined the job, another job may have given up its slot.) Otherwise it leaves the
-- line and waits for its group, and the first waiting job gets the slot. These statements
-- must be the last ones of a verb.

with t as materialized (
  select q.group_limit, coalesce(
-- include is_held
         , 0) as held,
         q.group_limit <=
-- include slots
         as full,
         q.group_limit <
-- include slots
         and q.group_limit <=
-- include slots_before
         as over,
         exists (select 1 from readpast_group_wait
                  where queue_id = q.id and group_key = @group_key
                    and (priority, came, job_id) < (@priority, @came, @id)) as behind,
         (select k.id
            from readpast_group_slot s
           cross join readpast_job k
           where not @slotted and s.queue_id = q.id and s.group_key = @group_key
             and k.id = s.job_id and k.seq is not null
             and (k.priority, k.came, k.id) > (@priority, @came, @id)
           order by k.priority desc, k.came desc, k.id desc
           limit 1) as other
    from readpast_queue q
   cross join readpast_job j
   where q.id = @queue_id and j.id = @id)
select iif(held or slotted or not full, null, other) as other,
       not held and not slotted and not behind
       and (not full or other is not null) as fits,
       held or behind or iif(slotted, over, full and other is null) as waits,
       behind and not held
       and (slotted or not full or other is not null) as is_next
  from (select *, @slotted as slotted from t where group_limit > 0
        union all
        select *, 1 from t where group_limit = 0 and held);

-- if @other:
insert into readpast_group_wait (queue_id, group_key, priority, came, job_id,
                                 run_at)
select queue_id, @group_key, priority, came, id, min(run_at, came / 1000)
  from readpast_job
 where id = @other;

-- if @other:
delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @other;

-- if @other:
update readpast_job
   set class = iif(class = 1, 1, 2), seq = null, run_at = 9223372036854775807
 where id = @other;

-- include take_slot

-- if @waits:
-- include block

-- the rest if @is_next:
-- include admit_next
