-- admit: a claim has found the job :id in the ready line without a slot of its group, or
-- in the line although its group is held. If the group has a free slot, and no job waits
-- that came before this one, the job gets the slot. If all slots are in use, the job
-- takes the slot of a ready job of its group that stands after it in the line. A job
-- without a slot waits for its group from now on, and is no longer in the line.
-- Jobs come into the line without a slot if the queue had no group limit at that time,
-- or if they were copied from another database.

select j.id, j.queue_id, j.priority, j.class, j.seq,
       j.extra ->> 'group' as group_key,
       coalesce((select s.came from readpast_group_slot s
                  where s.queue_id = j.queue_id
                    and s.group_key = j.extra ->> 'group'
                    and s.job_id = j.id), 1000 * j.run_at) as came
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
insert into readpast_group_wait (job_id, queue_id, group_key, priority, came,
                                 run_at)
select j.id, j.queue_id, @group_key, j.priority, s.came, j.run_at
  from readpast_job j
 cross join readpast_group_slot s
 where j.id = @other and s.queue_id = @queue_id and s.group_key = @group_key
   and s.job_id = @other;

-- if @other:
delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @other;

-- if @other:
update readpast_job
   set class = iif(class = 1, 1, 2), seq = null, run_at = 9223372036854775807
 where id = @other;

-- if @fits:
insert into readpast_group_slot (queue_id, group_key, job_id, came)
values (@queue_id, @group_key, @id, @came);

-- if @waits:
delete from readpast_group_slot
 where queue_id = @queue_id and group_key = @group_key and job_id = @id;

-- if @waits:
insert into readpast_group_wait (job_id, queue_id, group_key, priority, came,
                                 run_at)
select id, queue_id, @group_key, priority, @came, run_at
  from readpast_job
 where id = @id;

-- if @waits:
update readpast_job
   set class = iif(class = 1, 1, 2), seq = null, run_at = 9223372036854775807
 where id = @id;

-- the rest if @is_next:
-- include admit_next
