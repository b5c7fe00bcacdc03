-- outcome: how a job ended. state: 0 it is live; 4 done, 5 dead, 6 cancelled and kept; null
-- if there is no such job: it is finished and not kept, or was never given; or -6: it was
-- live in the queue :queue_id, which was dropped since. is_open: always 0, as a
-- transaction that is open changes nothing here.

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
