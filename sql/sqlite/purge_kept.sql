-- purge_kept: forget kept jobs in one state, :max at the most.

-- answer:
select a.id
  from readpast_archive a
 where a.queue_id = (select id from readpast_queue where name = :queue)
   and a.state = :state
   and (:kind is null or a.kind = :kind)
 order by a.finished_at
 limit :max;

delete from readpast_archive where id = @id;
