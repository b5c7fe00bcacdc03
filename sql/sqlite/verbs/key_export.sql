-- key_export: return unique keys that are still taken although their jobs are done.
-- They are keys of :queues (a JSON array of names), sorted by queue id and key. The
-- list starts after the key :key of the queue with the id :after, and has at most :max
-- keys.

-- answer:
select k.queue_id, q.name as queue, k.unique_key, k.job_id, k.until
  from readpast_taken_key k
 cross join readpast_queue q on q.id = k.queue_id
 where (k.queue_id, k.unique_key) > (:after, :key)
   and k.until > :now and q.name in (select value from json_each(:queues))
 order by k.queue_id, k.unique_key
 limit :max;
