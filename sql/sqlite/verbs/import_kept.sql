-- import_kept: insert finished jobs of another database without changing them. Their
-- queues must exist.

insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts, worker,
                              created_at, unique_key, kind, headers, payload,
                              last_error, failures, extra, group_key,
                              expire_at, result)
select r.id, q.id, r.state, r.finished_at, r.priority, r.run_at, r.claim_no,
       r.attempt, r.max_attempts, r.worker, r.created_at, r.unique_key, r.kind,
       r.headers, r.payload, r.last_error, r.failures,
-- include extra_of_row
     , r.group_key, r.expire_at,
       r.result
  from readpast_import_kept_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue;

insert or replace into readpast_payload (id, payload)
select r.id, r.apart
  from readpast_import_kept_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue and r.apart is not null;
