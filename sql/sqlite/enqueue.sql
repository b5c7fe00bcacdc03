-- enqueue: jobs of one priority, at the end of their lane or, with a delay or a
-- time, to come. If one has a payload that is larger than the queue takes,
-- fewer are inserted than there are, and none is answered.

select q.id as queue_id, coalesce(:priority, q.priority) as priority,
       q.max_attempts, q.max_payload,
       coalesce((select seq from readpast_job
                  where queue_id = q.id
                    and priority = coalesce(:priority, q.priority)
                    and class = 2 and seq is not null
                  order by seq desc limit 1), 0) as last_seq
  from readpast_queue q
 where q.name = :queue;

-- answer batch:
insert into readpast_job (queue_id, priority, seq, run_at, max_attempts,
                          created_at, kind, headers, payload)
select @queue_id, @priority,
       iif(max(:now + r.delay_ms, r.run_at) > :now, null,
           @last_seq + r.number),
       max(:now + r.delay_ms, r.run_at),
       coalesce(r.max_attempts, @max_attempts), :now, r.kind, r.headers,
       r.payload
  from readpast_enqueue_rows(:rows) r
 where length(r.payload) <= @max_payload;
