-- purge_line: forget jobs that are in line, :max at the most.

-- answer:
select j.id
  from readpast_job j
 where j.queue_id = (select id from readpast_queue where name = :queue)
   and j.seq is not null
   and (:kind is null or j.kind = :kind)
 order by j.priority, j.class, j.seq
 limit :max;

delete from readpast_job where id = @id;
