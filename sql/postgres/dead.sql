-- dead: the ids of a queue's dead jobs, ascending, behind :after.

select a.id
  from readpast.archive a
  join readpast.queue q on q.id = a.queue_id
 where q.name = :queue::text and a.state = 5 and a.id > :after::bigint
   and (:kind::text is null or a.kind = :kind::text)
 order by a.id
 limit :max::bigint;
