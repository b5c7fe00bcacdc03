-- queues_after: list the queues whose ids are larger than :after, in the order of their
-- ids.

select id, name
  from readpast.queue
 where id operator(pg_catalog.>) :after::bigint
 order by id;
