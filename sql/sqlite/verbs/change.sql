-- change: change the settings of a live job that is not running. A parameter that is null
-- leaves its setting as it is.
-- If the lane of the job (its queue, priority and class) changes, the job goes to
-- the end of the new lane, or to the end of the waiting jobs of its group. Otherwise
-- the job keeps its place.
-- A job leaves its group if its queue changes, or if the job was due and its new time is
-- in the future. A failed job that waits for its retry keeps its slot (its right to
-- run).
-- If :kind or :state is not null, the job is changed only if it has that kind and
-- state. The states 2 (ready) and 7 (blocked) count as one state.
-- outcome is 0 if the job was changed, 1 if another live job of the new queue has the same
-- unique key, 2 if there is no such queue, 3 if the payload is larger than the new queue
-- allows, 4 if the job would expire before it is due.

-- answer:
select j.id,
       case when q.id is null then 2
            when q.id <> j.queue_id
                 and exists (select 1 from readpast_job o
                              where o.queue_id = q.id
                                and o.unique_key = j.unique_key) then 1
            when q.id <> j.queue_id
                 and iif(j.payload < '', j.payload, length(j.payload))
                     > q.max_payload then 3
            when t.run_at >= j.expire_at then 4
            else 0 end as outcome,
       q.id as queue_id,
       coalesce(:priority, j.priority) as priority,
       iif(t.run_at > :now and j.class = 0, 2, j.class) as class,
       coalesce(t.run_at,
-- include run_at
                ) as run_at,
       j.run_at = 9223372036854775807 and q.id = j.queue_id
       and coalesce(:priority, j.priority) = j.priority
       and coalesce(t.run_at <= :now, 1) as stays,
       iif(t.run_at is null,
           j.seq is not null or j.run_at = 9223372036854775807,
           t.run_at <= :now) as in_line,
       j.queue_id as old_queue_id, j.priority as old_priority,
       j.run_at = 9223372036854775807 as blocked, j.came as old_came,
       j.seq is not null or j.run_at = 9223372036854775807 as was_in_line,
       j.group_key
  from readpast_job j
 cross join (select iif(:delay_ms is null and :run_at is null, null,
                        max(:now + coalesce(:delay_ms, 0),
                            coalesce(:run_at, 0))) as run_at) t
  left join readpast_queue q
         on q.id = iif(:queue is null, j.queue_id,
                       (select id from readpast_queue where name = :queue))
 where j.id = :id and j.lease_until is null
   and (:kind is null or j.kind = :kind)
   and (:state is null
        or iif(:state = 7, 2, :state)
           = iif(j.seq is not null or j.run_at <= :now
                 or j.run_at = 9223372036854775807, 2, 1))
   and j.queue_id in (select id from readpast_queue);

select 1 + coalesce((select k.seq from readpast_job k
                      where k.queue_id = @queue_id and k.priority = @priority
                        and k.class = @class and k.seq is not null
                      order by k.seq desc limit 1), 0) as next_seq,
       @group_key is not null and @outcome = 0 and @in_line and not @stays
       and (select group_limit > 0 or holds_until > :now from readpast_queue
             where id = @queue_id) as enters,
       @group_key is not null and @outcome = 0
       and (@queue_id <> @old_queue_id or @was_in_line and not @in_line) as leaves;

delete from readpast_group_wait
 where queue_id = @old_queue_id and group_key = @group_key
   and priority = @old_priority and came = @old_came and job_id = @id
   and @outcome = 0 and not @stays;

update readpast_job
   set seq = iif(@in_line and not @stays,
                 iif(seq is not null and queue_id = @queue_id
                     and priority = @priority and class = @class,
                     seq, @next_seq), null),
       queue_id = @queue_id,
       priority = @priority,
       class = @class,
       run_at = iif(@stays, 9223372036854775807, @run_at),
       came = iif(@leaves or @blocked and not @stays, null, came),
       max_attempts = coalesce(:max_attempts, max_attempts)
 where id = @id and @outcome = 0;

-- if @enters:
-- include enter_group

-- The job leaves the group of the old queue.
-- the rest if @leaves:
select @old_queue_id as queue_id;

-- include leave_slot
