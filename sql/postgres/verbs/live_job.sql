-- live_job: return a queue's id and the id of one of its live jobs. The second id is
-- null if the queue has no live job. See the routine live_job().

select q.id as queue_id, readpast.live_job(q.id) as id
  from readpast.queue q
 where q.name operator(pg_catalog.=) :queue::pg_catalog.text;
