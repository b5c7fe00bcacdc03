-- dead: return the ids of a queue's dead jobs that are larger than :after, in ascending
-- order. If :kind is not null, only jobs of that kind are returned.

-- answer:
select a.id
  from readpast_archive a
  join readpast_queue q on q.id = a.queue_id
 where q.name = :queue and a.state = 5 and a.id > :after
   and (:kind is null or a.kind = :kind)
 order by a.id
 limit :max;
