-- outcome: return how a job ended.
-- state is 0 if the job is live. It is 4 (done), 5 (dead) or 6 (cancelled) if the job
-- is kept. It is -6 if the job was live in the queue :queue_id and that queue was
-- dropped. It is null if the job finished and is not kept, or if no job ever had the
-- id.
-- is_open is 1 if a transaction that may be open has changed the job. On SQLite it is
-- always 0, because the changes of an open transaction are not visible to other
-- clients.

-- answer:
select case when q.id is not null then 0
            when a.id is not null then a.state
            when :queue_id is not null
                 and not exists (select 1 from readpast_queue
                                  where id = :queue_id) then -6 end as state,
       q.id as queue_id, q.name as queue, j.claim_no,
       0 as is_open
  from (select :id as id) v
  left join readpast_job j on j.id = v.id
  left join readpast_queue q on q.id = j.queue_id
  left join readpast_archive a on a.id = v.id;
