-- stats: return numbers about the queue :queue, or if :queue is null, about all queues,
-- sorted by name. For each queue these are the number of jobs in each state, the age of
-- the oldest ready job, the number of jobs that finished in the last ten seconds, the
-- number of workers that serve the queue, and how many jobs were done, attempts failed
-- and jobs died since the queue was made.
-- The jobs that wait for their group are counted as blocked. If no job of the queue may
-- start now, all due jobs are counted as blocked, too, and no job is counted as ready.
-- Up to :most live jobs of each state are counted. scheduled_at_least, ready_at_least
-- and running_at_least are 1 if there are more jobs of the state than were counted.
-- Kept jobs are not counted here, because readpast_kept_count has their numbers.

-- answer:
with counted as materialized (
select q.id, q.name, q.paused_at, q.pause_reason, q.held_until,
       (select count(*)
          from (select 1 from readpast_job
                 where queue_id = q.id and seq is null and lease_until is null
                   and run_at < 9223372036854775807 and run_at > :now
                 limit :most + 1)) as scheduled,
       (select count(*)
          from (select 1 from readpast_job
                 where queue_id = q.id and seq is not null
                 limit :most + 1))
       + (select count(*)
            from (select 1 from readpast_job
                   where queue_id = q.id and seq is null
                     and lease_until is null
                     and run_at <= :now and run_at < 9223372036854775807
                   limit :most + 1)) as due,
       (select count(*)
          from (select 1 from readpast_group_wait
                 where queue_id = q.id
                 limit :most + 1)) as waiting,
       s.stopped > 0 as stopped,
       (select count(*)
          from (select 1 from readpast_job
                 where queue_id = q.id and lease_until is not null
                 limit :most + 1)) as running
  from readpast_queue q
  join readpast_stop s on s.id = q.id
 where q.name in (select :queue
                  union all
                  select name from readpast_queue where :queue is null)),
served (name, workers) as materialized (
select e.value, count(distinct w.id)
  from readpast_worker w, json_each(w.queues) e
 where w.stopped_at is null and w.seen_at > :now - 30000
 group by e.value)
select q.name as queue, q.paused_at is not null as paused,
       q.pause_reason as pause_reason,
       min(q.scheduled, :most) as scheduled,
       iif(q.stopped, 0, min(q.due, :most)) as ready,
       min(q.running, :most) as running,
       coalesce((select sum(jobs) from readpast_kept_count
                  where queue_id = q.id and state in (4, 14)), 0) as done,
       coalesce((select jobs from readpast_kept_count
                  where queue_id = q.id and state = 5), 0) as dead,
       coalesce((select jobs from readpast_kept_count
                  where queue_id = q.id and state = 6), 0) as cancelled,
       max(0, :now - (
-- include oldest_ready
       )) as oldest_ready_ms,
       max(0, :now - (select min(claim_no) / 1000
                        from (select claim_no from readpast_job
                               where queue_id = q.id
                                 and lease_until is not null
                               order by lease_until
                               limit :most)))
       as longest_running_ms,
       coalesce((select workers from served where name = q.name), 0) as workers,
       coalesce(t.done_recently, 0) as done_recently,
       coalesce(t.failed_recently, 0) as failed_recently,
       q.scheduled > :most as scheduled_at_least,
       not q.stopped and q.due > :most as ready_at_least,
       q.running > :most as running_at_least,
       min(q.waiting + q.stopped * q.due, :most) as blocked,
       q.waiting + q.stopped * q.due > :most as blocked_at_least,
       iif(q.held_until > :now, q.held_until, null) as held_until,
       coalesce(t.done, 0) as done_total,
       coalesce(t.failed, 0) as failed_total,
       coalesce(t.dead, 0) as dead_total
  from counted q
  left join (select queue_id, sum(done) as done, sum(failed) as failed,
                    sum(dead) as dead,
                    sum(done) filter (where second > :now / 1000 - 10)
                    as done_recently,
                    sum(failed) filter (where second > :now / 1000 - 10)
                    as failed_recently
               from readpast_tally
              where queue_id in (select id from counted)
              group by queue_id) t on t.queue_id = q.id
 order by q.name;
