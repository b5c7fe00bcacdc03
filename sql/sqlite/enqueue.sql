-- enqueue: one job, at the end of its lane or, with a delay or a time, to come.
-- One whose payload is larger than the queue takes is not inserted, and not
-- answered.

-- once:
select id as queue_id, priority, max_attempts, max_payload
  from readpast_queue
 where name = :queue;

-- answer:
insert into readpast_job (queue_id, priority, seq, run_at, max_attempts,
                          created_at, kind, headers, payload)
select @queue_id, coalesce(:priority, @priority),
       iif(max(:now + :delay_ms, :run_at) > :now, null,
           1 + coalesce((select seq from readpast_job
                          where queue_id = @queue_id
                            and priority = coalesce(:priority, @priority)
                            and class = 2 and seq is not null
                          order by seq desc limit 1), 0)),
       max(:now + :delay_ms, :run_at), coalesce(:max_attempts, @max_attempts),
       :now, :kind, :headers, :payload
 where length(:payload) <= @max_payload;
