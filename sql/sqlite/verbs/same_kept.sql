-- same_kept: compare the given rows with this database's kept jobs, field by field.
-- Returns the ids of the rows that equal a kept job.

-- answer:
select a.id, r.number as number
  from readpast_same_kept_rows(:rows) r
 cross join readpast_archive a
 cross join readpast_queue q
 where a.id = r.id and q.id = a.queue_id and q.name = r.queue
   and a.state = r.state and a.finished_at = r.finished_at
   and a.priority = r.priority and a.run_at = r.run_at
   and a.claim_no = r.claim_no and a.attempt = r.attempt
   and a.max_attempts = r.max_attempts and a.worker is r.worker
   and a.created_at = r.created_at and a.unique_key is r.unique_key
   and a.kind is r.kind and a.headers is r.headers
   and a.payload = r.payload
   and (r.apart is null
        or exists (select 1 from readpast_payload p
                    where p.id = a.id and p.payload = r.apart))
   and a.last_error is r.last_error and a.failures is r.failures
   and a.extra ->> 'keep_ms' is r.keep_ms
   and a.extra ->> 'timeout_ms' is r.timeout_ms
   and a.expire_at is r.expire_at
   and a.extra ->> 'backoff' is r.backoff
   and a.extra ->> 'unique_for_ms' is r.unique_for_ms
   and a.group_key is r.group_key
   and a.extra ->> 'progress' is r.progress
   and a.result is r.result;
