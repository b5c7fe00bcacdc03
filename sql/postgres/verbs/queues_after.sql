-- queues_after: list the names of the queues with ids above :after, in the order of
-- their ids.

select id, name
  from readpast.queue
 where id operator(pg_catalog.>) :after::bigint
 order by id;
