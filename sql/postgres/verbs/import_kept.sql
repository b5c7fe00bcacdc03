-- import_kept: insert finished jobs, unchanged, into queues that exist.

insert into readpast.archive (id, queue_id, state, finished_at, priority,
                              run_at, claim_no, attempt, max_attempts, worker,
                              created_at, unique_key, kind, headers, payload,
                              last_error, failures, extra, group_key, result)
select n.id, q.id, n.state, readpast.at_ms(n.finished_at), n.priority,
       readpast.at_ms(n.run_at), n.claim_no, n.attempt, n.max_attempts,
       n.worker, readpast.at_ms(n.created_at), n.unique_key, n.kind,
       n.headers::pg_catalog.json, n.payload, n.last_error,
       n.failures::pg_catalog.jsonb,
       readpast.extra_of(n.keep_ms, n.timeout_ms, readpast.at_ms(n.expire_at),
                         n.backoff::pg_catalog.json, n.unique_for_ms,
                         n.progress), n.group_key, n.result
  from unnest(:id[]::bigint[], :queue[]::pg_catalog.text[], :state[]::bigint[],
              :finished_at[]::bigint[], :priority[]::bigint[],
              :run_at[]::bigint[], :claim_no[]::bigint[],
              :attempt[]::bigint[], :max_attempts[]::bigint[],
              :worker[]::pg_catalog.text[], :created_at[]::bigint[],
              :unique_key[]::pg_catalog.text[], :kind[]::pg_catalog.text[],
              :headers[]::pg_catalog.text[], :payload[]::pg_catalog.bytea[],
              :last_error[]::pg_catalog.text[],
              :failures[]::pg_catalog.text[],
              :keep_ms[]::bigint[], :timeout_ms[]::bigint[],
              :expire_at[]::bigint[], :backoff[]::pg_catalog.text[],
              :unique_for_ms[]::bigint[], :group_key[]::pg_catalog.text[],
              :progress[]::pg_catalog.text[],
              :result[]::pg_catalog.bytea[])
       as n(id, queue, state, finished_at, priority, run_at, claim_no,
            attempt, max_attempts, worker, created_at, unique_key, kind,
            headers, payload, last_error, failures, keep_ms, timeout_ms,
            expire_at, backoff, unique_for_ms, group_key, progress, result)
  join readpast.queue q on q.name operator(pg_catalog.=) n.queue;
