-- to_purge: the ids of a queue's jobs in one state other than running; at most :max.
-- This is not part of purge, because it may take long to skip jobs of other kinds, and
-- reading needs no write lock.

-- answer:
select id
  from readpast_job
 where :state = 2 and seq is not null
   and queue_id = (select id from readpast_queue where name = :queue)
   and (:kind is null or kind = :kind)
union all
select id
  from readpast_job
 where :state < 3 and seq is null and lease_until is null
   and queue_id = (select id from readpast_queue where name = :queue)
   and (run_at <= :now) = (:state = 2)
   and (:kind is null or kind = :kind)
union all
select id
  from readpast_archive
 where :state > 3
   and queue_id = (select id from readpast_queue where name = :queue)
   and state = :state
   and (:kind is null or kind = :kind)
 limit :max;
