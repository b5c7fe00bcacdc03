-- enqueue: jobs of one priority, time and number of attempts, at the end of
-- their lane or to come. If one has a payload that is larger than the queue
-- takes, or headers that are no JSON object, fewer are inserted than there
-- are, and none is answered.
-- `or fail`: what an insert has done when it fails need not be undone by
-- SQLite, which would keep a copy of each page for it: our transaction does.

select q.id as queue_id, coalesce(:priority, q.priority) as priority,
       coalesce(:max_attempts, q.max_attempts) as max_attempts, q.max_payload,
       max(:now + :delay_ms, :run_at) as run_at,
       iif(max(:now + :delay_ms, :run_at) > :now, null,
           coalesce((select seq from readpast_job
                      where queue_id = q.id
                        and priority = coalesce(:priority, q.priority)
                        and class = 2 and seq is not null
                      order by seq desc limit 1), 0)) as last_seq
  from readpast_queue q
 where q.name = :queue;

-- answer batch:
insert or fail into readpast_job (queue_id, priority, seq, run_at,
                                  max_attempts, created_at, kind, headers,
                                  payload)
select @queue_id, @priority, @last_seq + r.number, @run_at, @max_attempts,
       :now, r.kind, r.headers, r.payload
  from readpast_enqueue_rows(:rows) r
 where length(r.payload) <= @max_payload
   and (r.headers is null
        or json_valid(r.headers) and json_type(r.headers) = 'object');
