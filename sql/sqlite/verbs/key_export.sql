-- key_export: up to :max unique keys of these queues (a JSON array of names) that stay
-- taken after their jobs are done, behind the key :key of the queue with the id :after, in
-- the order of both.

-- answer:
select k.queue_id, q.name as queue, k.unique_key, k.job_id, k.until
  from readpast_taken_key k
  join readpast_queue q on q.id = k.queue_id
 where (k.queue_id, k.unique_key) > (:after, :key)
   and k.until > :now and q.name in (select value from json_each(:queues))
 order by k.queue_id, k.unique_key
 limit :max;
