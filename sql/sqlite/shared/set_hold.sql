-- set_hold: hold the queue @queue_id, or its group @group_key if @group_key is not
-- null, for :for_ms from now. If :for_ms is null, end the hold. When a hold of a group
-- begins, ready jobs of the group are blocked: up to a thousand that have a slot, and those
-- without a slot among the first thousand of the queue. When a hold ends, up to a thousand
-- waiting jobs are admitted. Claims block the other ready jobs, and sweeps admit the other
-- waiting jobs. These statements must be the last ones of a verb.

select @group_key is null as whole, @group_key is not null as of_group,
       @group_key is not null and :for_ms > 0 as begins,
       @group_key is not null and :for_ms is null as ends;

-- if @whole:
update readpast_queue
   set held_until = :now + :for_ms
 where id = @queue_id;

-- if @begins:
insert into readpast_group_hold (queue_id, group_key, until)
values (@queue_id, @group_key, :now + :for_ms)
on conflict do update set until = excluded.until;

-- if @ends:
update readpast_group_hold set until = :now
 where queue_id = @queue_id and group_key = @group_key;

-- if @of_group:
update readpast_queue
   set holds_until = (select max(until) from readpast_group_hold
                       where queue_id = @queue_id)
 where id = @queue_id;

-- if @begins:
with slotted as materialized (
  select s.job_id as id, j.came
    from readpast_group_slot s
   cross join readpast_job j
   where s.queue_id = @queue_id and s.group_key = @group_key
     and j.id = s.job_id and j.seq is not null
   limit 1000),
first as materialized (
  select id, priority, class, seq, group_key, came, run_at
    from readpast_job
   where queue_id = @queue_id and seq is not null
   order by priority, class, seq
   limit 1000),
unslotted as materialized (
  select f.id,
-- include came_in_line
         as came
    from first f
   where f.group_key = @group_key and f.came is null)
select id, came, 1 as waits from slotted
union all
select id, came, 1 from unslotted;

-- if @begins:
-- include block

-- the rest if @ends:
select iif(q.group_limit = 0, 1000,
           min(1000, q.group_limit -
-- include slots
           )) as free, q.group_limit > 0 as slotted
  from readpast_queue q
 where q.id = @queue_id;

select job_id as next_id, priority as next_priority, came as next_came
  from readpast_group_wait
 where queue_id = @queue_id and group_key = @group_key
 order by priority, came
 limit max(0, @free);

-- include admit
