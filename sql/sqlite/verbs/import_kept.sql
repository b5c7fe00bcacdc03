-- import_kept: insert finished jobs of another database without changing them. Their
-- queues must exist.

insert into readpast_archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts, worker,
                              created_at, unique_key, kind, headers, payload,
                              last_error, failures, extra, expire_at, result)
select r.id, q.id, r.state, r.finished_at, r.priority, r.run_at, r.claim_no,
       r.attempt, r.max_attempts, r.worker, r.created_at, r.unique_key, r.kind,
       r.headers, r.payload, r.last_error, r.failures,
       iif(coalesce(r.keep_ms, r.timeout_ms, r.expire_at, r.backoff,
                    r.unique_for_ms, r.progress) is null,
           null,
           json_patch('{}', json_object(
               'keep_ms', r.keep_ms, 'timeout_ms', r.timeout_ms,
               'backoff', r.backoff, 'unique_for_ms', r.unique_for_ms,
               'progress', r.progress))),
       r.expire_at,
       r.result
  from readpast_import_kept_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue;

insert or replace into readpast_payload (id, payload)
select r.id, r.apart
  from readpast_import_kept_rows(:rows) r
 cross join readpast_queue q
 where q.name = r.queue and r.apart is not null;
