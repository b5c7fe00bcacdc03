-- to_purge: return the ids of up to :max jobs of a queue in the state :state, which can
-- be any state except running. If no job of the queue may start now, all due jobs are
-- blocked (7). Otherwise due jobs are ready (2), except those that wait for their group.
-- The verb `purge` then deletes the jobs, under the write lock. This search needs no
-- write lock, even if it has to skip many jobs of other kinds.

-- answer:
with due(state) as materialized (
  select iif(s.stopped, 7, 2)
    from readpast_queue q
   cross join readpast_stop s
   where q.name = :queue and s.id = q.id)
select id
  from readpast_job
 where :state in (2, 7) and :state = (select state from due)
   and seq is not null
   and queue_id = (select id from readpast_queue where name = :queue)
   and (:kind is null or kind = :kind)
union all
select id
  from readpast_job
 where :state in (1, 2, 7) and seq is null and lease_until is null
   and run_at < 9223372036854775807
   and queue_id = (select id from readpast_queue where name = :queue)
   and :state = iif(run_at > :now, 1, (select state from due))
   and (:kind is null or kind = :kind)
union all
select j.id
  from readpast_group_wait w
 cross join readpast_job j
 where :state = 7 and j.id = w.job_id
   and w.queue_id = (select id from readpast_queue where name = :queue)
   and (:kind is null or j.kind = :kind)
union all
select id
  from readpast_archive
 where :state in (4, 5, 6)
   and queue_id = (select id from readpast_queue where name = :queue)
   and state = :state
   and (:kind is null or kind = :kind)
 limit :max;
