-- key_export: up to :max unique keys of these queues (a JSON array of names) that stay
-- taken after their jobs are done, behind the key :key of the queue with the id :after, in
-- the order of both.

select k.queue_id, q.name as queue, k.unique_key, k.job_id, k.until
  from readpast.taken_key k
  join readpast.queue q on q.id operator(pg_catalog.=) k.queue_id
 where (k.queue_id, k.unique_key) operator(pg_catalog.>)
       (:after::bigint::integer, :key::pg_catalog.text)
   and k.until operator(pg_catalog.>) pg_catalog.clock_timestamp()
   and :queues::pg_catalog.text::pg_catalog.jsonb
       operator(pg_catalog.?) q.name
 order by k.queue_id, k.unique_key
 limit :max::bigint;
