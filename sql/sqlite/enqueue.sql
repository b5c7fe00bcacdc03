-- enqueue: one job, at the end of its lane or, with a delay or a time, to come.
-- The payload's size is checked here, against the queue as it is now.

select q.id as queue_id,
       coalesce(:priority, q.priority) as priority,
       coalesce(:max_attempts, q.max_attempts) as max_attempts,
       max(:now + :delay_ms, :run_at) as run_at
  from readpast_queue q
 where q.name = :queue
   and length(:payload) <= q.max_payload;

insert into readpast_job (queue_id, priority, seq, run_at, max_attempts,
                          created_at, kind, headers, payload)
values (@queue_id, @priority,
        iif(@run_at > :now, null,
            1 + coalesce((select seq from readpast_job
                           where queue_id = @queue_id and priority = @priority
                             and class = 2 and seq is not null
                           order by seq desc limit 1), 0)),
        @run_at, @max_attempts, :now, :kind, :headers, :payload);

-- answer:
select last_insert_rowid() as id;
