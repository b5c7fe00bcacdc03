-- same_live: compare the given rows with this database's live jobs, field by field.
-- Returns the ids of the rows that equal a live job. One difference is allowed: a job
-- that is scheduled in the given row may be ready or blocked here, because its time has
-- come.

-- answer:
select j.id, r.number as number
  from readpast_same_live_rows(:rows) r
 cross join readpast_job j
 cross join readpast_queue q
 where j.id = r.id and q.id = j.queue_id and q.name = r.queue
   and j.lease_until is null
   and j.priority = r.priority and j.class = r.class
   and (j.seq is r.seq or r.seq is null and j.run_at <= :now)
   and r.run_at =
-- include run_at
   and j.claim_no = r.claim_no
   and j.attempt = r.attempt and j.lost = r.lost
   and j.max_attempts = r.max_attempts
   and j.created_at = r.created_at and j.unique_key is r.unique_key
   and j.kind is r.kind and j.headers is r.headers
   and j.payload = r.payload
   and (r.apart is null
        or exists (select 1 from readpast_payload p
                    where p.id = j.id and p.payload = r.apart))
   and j.last_error is r.last_error and j.failures is r.failures
   and j.extra ->> 'keep_ms' is r.keep_ms
   and j.extra ->> 'timeout_ms' is r.timeout_ms
   and j.expire_at is r.expire_at
   and j.extra ->> 'backoff' is r.backoff
   and j.extra ->> 'unique_for_ms' is r.unique_for_ms
   and j.group_key is r.group_key
   and j.extra ->> 'progress' is r.progress;
