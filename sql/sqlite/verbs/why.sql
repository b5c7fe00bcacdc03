-- why: return why a live job waits, or which worker runs it.
-- ahead is the number of ready jobs that will be claimed before this one, counted up to
-- :most. workers is the number of live workers that serve the job's queue and kind.
-- queue_workers is the number of live workers that serve the queue, whatever kinds they
-- serve. run_limit is the largest number of jobs of the queue that may run at the same
-- time, and running is the number of jobs that run now. Both are 0 if the queue has no
-- limit.
-- group_busy is the number of slots of the job's group that are in use. group_ahead is
-- the number of jobs that the group admits before this job, and group_waiting is the
-- number of all jobs that wait for the group. Both are counted up to :most. group_next
-- describes the job for which this job waits: if the group has a limit and this job has no
-- slot, a job that has a slot of this group, if possible a running one.
-- worker_id, host, pid, silent_ms and renewed describe the worker that holds the job,
-- and its lease.
-- Priority, class and seq are compared one by one, because for a comparison of row
-- values SQLite would scan all jobs of the priority.

-- answer:
select :now as now, q.paused_at as paused_at, q.pause_reason as pause_reason,
       min(:most,
           (select count(*)
              from (select 1 from readpast_job a
                     where a.queue_id = j.queue_id and a.seq is not null
                       and a.priority < j.priority
                     limit :most))
           + (select count(*)
                from (select 1 from readpast_job a
                       where a.queue_id = j.queue_id and a.seq is not null
                         and a.priority = j.priority and a.class < j.class
                       limit :most))
           + (select count(*)
                from (select 1 from readpast_job a
                       where a.queue_id = j.queue_id
                         and a.priority = j.priority and a.class = j.class
                         and a.seq < coalesce(j.seq, 9223372036854775807)
                       limit :most))) as ahead,
       j.class = 1 as suspect,
       (select count(*) from readpast_worker s
         where s.stopped_at is null and s.seen_at > :now - 30000
           and exists (select 1 from json_each(s.kinds) e
                        where e.value in (q.name || '/',
                                          q.name || '/' || j.kind)))
       as workers,
       (select count(*) from readpast_worker s
         where s.stopped_at is null and s.seen_at > :now - 30000
           and exists (select 1 from json_each(s.queues) e
                        where e.value = q.name)) as queue_workers,
       j.worker_id as worker_id, w.host as host, w.pid as pid,
       max(0, :now - w.seen_at) as silent_ms, j.renewed as renewed,
       q.run_limit as run_limit,
       iif(q.run_limit = 0, 0,
-- include running
       ) as running,
       iif(q.held_until > :now, q.held_until, null) as held_until,
       (select until from readpast_group_hold
         where queue_id = q.id and group_key = j.group_key
           and until > :now) as group_held_until,
       iif(j.group_key is null, 0, q.group_limit) as group_limit,
       (select count(*)
          from readpast_group_slot s
         cross join readpast_job k
         where s.queue_id = q.id and s.group_key = j.group_key
           and k.id = s.job_id) as group_busy,
       iif(j.run_at < 9223372036854775807, 0,
           (select count(*)
                   from (select 1 from readpast_group_wait a
                          where a.queue_id = j.queue_id
                            and a.group_key = j.group_key
                            and a.priority < j.priority
                          limit :most))
           + (select count(*)
                     from (select 1 from readpast_group_wait a
                            where a.queue_id = j.queue_id
                              and a.group_key = j.group_key
                              and a.priority = j.priority and a.came < j.came
                            limit :most))) as group_ahead,
       (select count(*)
          from (select 1 from readpast_group_wait a
                 where a.queue_id = q.id
                   and a.group_key = j.group_key
                 limit :most)) as group_waiting,
       (select json_object('id', g.id,
                           'state', case g.state when 1 then 'scheduled'
                                                 when 2 then 'ready'
                                                 when 3 then 'running'
                                                 else 'blocked' end,
                           'since', iif(g.state = 3, g.claimed_at, g.run_at),
                           'worker', g.worker, 'host', o.host)
          from readpast_group_slot s
         cross join readpast_live g
          left join readpast_job r on r.id = g.id
          left join readpast_worker o on o.id = r.worker_id
         where s.queue_id = q.id and s.group_key = j.group_key
           and g.id = s.job_id and q.group_limit > 0
           and j.run_at = 9223372036854775807
         order by g.state = 3 desc, r.came
         limit 1) as group_next,
       q.rate_count as rate_count, q.rate_ms as rate_ms,
-- include rate_in_ms
       as rate_in_ms
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
  left join readpast_worker w on w.id = j.worker_id
 where j.id = :id;
