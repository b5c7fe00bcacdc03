-- examine_line: if the queue :queue has a group limit, examine its first thousand ready
-- jobs. Those that have no slot get one or wait for their group, and so do those that
-- have a slot too many. Claims examine the other ready jobs. These statements must be the
-- last ones of a verb.
-- slots: how many slots of each group are in use. The slots before a job are counted only
-- if the group uses too many, because that takes longer.

with first as materialized (
  select id, queue_id, priority, class, seq, group_key, came, run_at
    from readpast_job
   where queue_id = (select id from readpast_queue
                      where name = :queue and group_limit > 0)
     and seq is not null
   order by priority, class, seq
   limit 1000),
examined as materialized (
  select f.id, f.queue_id, f.priority, f.class, f.seq, f.group_key, f.came,
-- include came_in_line
         as new_came
    from first f
   where f.group_key is not null),
used as materialized (
  select queue_id, group_key,
         (select count(*) from readpast_group_slot
           where queue_id = e.queue_id and group_key = e.group_key) as slots
    from examined e
   group by queue_id, group_key)
select j.id, j.new_came
  from examined j
  join readpast_queue q on q.id = j.queue_id
  join used u on u.group_key = j.group_key
 where j.came is null
    or q.group_lowered and q.group_limit < u.slots
       and q.group_limit <=
-- include slots_before
 order by j.priority, j.class, j.seq;

-- An earlier row may have taken this job's slot, and blocked it.
select id, queue_id, priority, class, seq, group_key,
       coalesce(came, @new_came) as came, came is not null as slotted
  from readpast_job
 where id = @id and seq is not null;

-- include stay_or_wait
