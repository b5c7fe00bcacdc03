-- admit: a claim has found the job :id in the ready line without a slot of its group, or
-- in the line although its group is held. If the group has a free slot, and no job waits
-- that came before this one, the job gets the slot. If all slots are in use, the job
-- takes the slot of a ready job of its group that stands after it in the line. A job
-- without a slot waits for its group from now on, and is no longer in the line.
-- Jobs come into the line without a slot if the queue had no group limit at that time,
-- or if they were copied from another database.

select j.id, j.queue_id, j.priority, j.class, j.seq,
       j.extra ->> 'group' as group_key, coalesce(j.came, 1000 * j.run_at) as came
  from readpast_job j
 where j.id = :id and j.seq is not null;

with t as materialized (
  select q.group_limit, coalesce(
-- include is_held
         , 0) as held,
         q.group_limit <=
-- include slots
         as full,
         exists (select 1 from readpast_group_wait
                  where queue_id = q.id and group_key = @group_key
                    and (priority < @priority
                         or priority = @priority and came < @came)) as behind,
         (select k.id
            from readpast_group_slot s
           cross join readpast_job k
           where s.queue_id = q.id and s.group_key = @group_key
             and k.id = s.job_id and k.seq is not null
             and (k.priority, k.class, k.seq) > (@priority, @class, @seq)
           order by k.priority desc, k.class desc, k.seq desc
           limit 1) as other
    from readpast_queue q
   where q.id = @queue_id)
select iif(held or not full or group_limit = 0, null, other) as other,
       not held and (full and other is not null or not full and not behind)
       and group_limit > 0 as fits,
       held or group_limit > 0 and iif(full, other is null, behind) as waits,
       not full and behind and not held as is_next
  from t;

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
