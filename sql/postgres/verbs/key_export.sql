-- key_export: list unique keys that are still taken although their jobs are done. They
-- are keys of :queues (a JSON array of names), sorted by queue id and key. The list
-- starts after the key :key of the queue with the id :after, and has at most :max keys.

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
