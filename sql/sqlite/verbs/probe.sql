-- probe: return whether a queue has work now, and if not, how long it will take until
-- the queue has work. The statement reads one or two rows of most indexes. It also passes
-- over ready jobs that have expired, until a sweep cancels them.
-- ready is 1 if a claim would find a job. A job that has expired does not count. ready
-- is 0 while the queue is held, and while its run_limit or its rate is used up. running
-- is 1 if a job is running. suspects is 1 if a suspect (a job that may have killed its
-- worker) is ready.
-- due_in_ms is the time until the first of these events: a scheduled job is due, a hold
-- ends, the rate allows another start. It is 0 if the event has happened already, or if
-- sweep_groups has something to do. It is null if none of these events is expected.
-- expires_in_ms is the time until the next lease ends. It is 0 if a lease is over, and
-- null if no job is running.
-- blocked is 1 if a job waits for a limit or for the rate, and not only for a hold. If
-- groups are held, it is 1 if another group has a slot (the right of one job to run) in
-- use, and other jobs of this group wait. A thousand groups that wait are examined, and a
-- thousand slots.
-- behind is 0 if other workers sweep for the caller, so that the caller need not sweep
-- all queues once a second. On SQLite it is always 1, because each process sweeps for
-- itself. On PostgreSQL one worker sweeps for all, and behind is 1 only if no worker
-- has swept for a second.

-- answer:
select q.paused_at is null and t.stopped = 0
       and exists (select 1 from readpast_job
                    where queue_id = q.id and seq is not null)
       and (not exists (select 1 from readpast_job
                         where queue_id = q.id and expire_at <= :now
                           and expire_at is not null)
            or exists (select 1 from readpast_job
                        where queue_id = q.id and seq is not null
                          and (expire_at is null or expire_at > :now)))
       as ready,
       exists (select 1 from readpast_job
                where queue_id = q.id and lease_until is not null) as running,
       nullif(min(
           coalesce(max(0, (select min(run_at) from readpast_job
                             where queue_id = q.id and seq is null
                               and lease_until is null
                               and run_at < 9223372036854775807) - :now),
                    9223372036854775807),
           iif(q.group_scan is null, 9223372036854775807, 0),
           iif(q.holds_until is null, 9223372036854775807,
               coalesce(max(0, (select min(until) from readpast_group_hold
                                 where queue_id = q.id) - :now),
                        9223372036854775807)),
           iif(t.stopped = 0
               or not exists (select 1 from readpast_job
                               where queue_id = q.id and seq is not null),
               9223372036854775807,
               case t.stopped
                 when 1 then max(0, q.held_until - :now)
                 when 3 then coalesce(
-- include rate_in_ms
                 , 0) else 9223372036854775807 end)),
           9223372036854775807) as due_in_ms,
       max(0, (select min(lease_until) from readpast_job
                where queue_id = q.id
                  and lease_until is not null) - :now) as expires_in_ms,
       q.paused_at is not null as paused,
       q.paused_at is null
       and exists (select 1 from readpast_job indexed by readpast_job_suspect
                    where queue_id = q.id and class = 1 and seq is not null
                      and (expire_at is null or expire_at > :now))
       as suspects,
       1 as behind,
       t.stopped <> 1
       and (t.stopped > 1
            and exists (select 1 from readpast_job
                         where queue_id = q.id and seq is not null)
            or exists (select 1 from readpast_group_wait where queue_id = q.id)
               and (coalesce(q.holds_until <= :now, 1)
                    or q.group_limit > 0
                       and exists (
                           with recursive waiting(group_key, number) as (
                             select min(group_key), 1 from readpast_group_wait
                              where queue_id = q.id
                             union all
                             select (select min(n.group_key)
                                       from readpast_group_wait n
                                      where n.queue_id = q.id
                                        and n.group_key > w.group_key),
                                    number + 1
                               from waiting w
                              where w.group_key is not null and number < 1000)
                           select 1
                             from (select group_key from waiting
                                   union all
                                   select group_key
                                     from (select group_key
                                             from readpast_group_slot
                                            where queue_id = q.id
                                            limit 1000)) g
                            where exists (
                                      select 1 from readpast_group_slot
                                       where queue_id = q.id
                                         and group_key = g.group_key)
                              and exists (
                                      select 1 from readpast_group_wait
                                       where queue_id = q.id
                                         and group_key = g.group_key)
                              and not exists (
                                      select 1 from readpast_group_hold
                                       where queue_id = q.id
                                         and group_key = g.group_key
                                         and until > :now)))) as blocked
  from readpast_queue q
  join readpast_stop t on t.id = q.id
 where q.name = :queue;
