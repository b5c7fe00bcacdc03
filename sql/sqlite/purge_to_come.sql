-- purge_to_come: forget jobs that are to come, those due already (:due) or the
-- others, :max at the most.

-- answer:
select j.id
  from readpast_job j
 where j.queue_id = (select id from readpast_queue where name = :queue)
   and j.seq is null and j.lease_until is null
   and (j.run_at <= :now) = :due
   and (:kind is null or j.kind = :kind)
 order by j.run_at
 limit :max;

delete from readpast_job where id = @id;
