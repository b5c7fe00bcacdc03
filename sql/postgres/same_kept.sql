-- same_kept: those of the rows that are here as finished jobs, the same in
-- every field.

select n.number, a.id
  from unnest(:id[]::bigint[], :queue[]::text[], :state[]::bigint[],
              :finished_at[]::bigint[], :priority[]::bigint[],
              :run_at[]::bigint[], :claim_no[]::bigint[],
              :attempt[]::bigint[], :max_attempts[]::bigint[],
              :worker[]::text[], :created_at[]::bigint[],
              :unique_key[]::text[], :kind[]::text[], :headers[]::text[],
              :payload[]::bytea[], :last_error[]::text[],
              :failures[]::text[]) with ordinality
       as n(id, queue, state, finished_at, priority, run_at, claim_no,
            attempt, max_attempts, worker, created_at, unique_key, kind,
            headers, payload, last_error, failures, number)
  join readpast.archive a on a.id = n.id
 where a.queue_id = (select q.id from readpast.queue q
                      where q.name = n.queue)
   and a.state = n.state and a.finished_at = readpast.at_ms(n.finished_at)
   and a.priority = n.priority and a.run_at = readpast.at_ms(n.run_at)
   and a.claim_no = n.claim_no and a.attempt = n.attempt
   and a.max_attempts = n.max_attempts
   and a.worker is not distinct from n.worker
   and a.created_at = readpast.at_ms(n.created_at)
   and a.unique_key is not distinct from n.unique_key
   and a.kind is not distinct from n.kind
   and a.headers::text is not distinct from n.headers
   and a.payload = n.payload
   and a.last_error is not distinct from n.last_error
   and a.failures is not distinct from n.failures::jsonb;
