-- dead: list the dead jobs of a queue whose ids are larger than :after, in the order of
-- their ids. If :kind is not null, only jobs of that kind are listed.

select a.id
  from readpast.archive a
  join readpast.queue q on q.id operator(pg_catalog.=) a.queue_id
 where q.name operator(pg_catalog.=) :queue
   and a.state operator(pg_catalog.=) 5
   and a.id operator(pg_catalog.>) :after::bigint
   and (:kind::pg_catalog.text is null or a.kind operator(pg_catalog.=) :kind)
 order by a.id
 limit :max::bigint;
