-- to_purge: return the ids of up to :max jobs of a queue in the state :state, which can
-- be any state except running. This verb is separate from purge because it may have to
-- skip many jobs of other kinds, and needs no write lock for that. purge.sql then
-- deletes the jobs.

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
