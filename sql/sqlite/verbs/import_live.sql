-- import_live: insert live jobs of another database that are not running, without
-- changing them. Their queues must exist. worker_id is null, because no worker of this
-- database was given the claim numbers of these jobs.

insert into readpast_job (id, queue_id, priority, class, seq, run_at, claim_no,
                          attempt, lost, max_attempts, created_at, unique_key,
                          kind, headers, payload, last_error, failures,
                          extra, group_key, expire_at)
select r.id, q.id, r.priority, r.class, r.seq, r.run_at, r.claim_no, r.attempt,
       r.lost, r.max_attempts, r.created_at, r.unique_key, r.kind, r.headers,
       r.payload, r.last_error, r.failures,
-- include extra_of_row
     , r.group_key, r.expire_at
  from readpast_import_live_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue;

insert or replace into readpast_payload (id, payload)
select r.id, r.apart
  from readpast_import_live_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue and r.apart is not null;
