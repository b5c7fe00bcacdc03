-- same_kept: compare the given rows with this database's kept jobs, field by field.
-- Returns the rows that equal a kept job.

select n.number, a.id
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
              :result[]::pg_catalog.bytea[]) with ordinality
       as n(id, queue, state, finished_at, priority, run_at, claim_no,
            attempt, max_attempts, worker, created_at, unique_key, kind,
            headers, payload, last_error, failures, keep_ms, timeout_ms,
            expire_at, backoff, unique_for_ms, group_key, progress, result,
            number)
  join readpast.archive a on a.id operator(pg_catalog.=) n.id
 where a.queue_id operator(pg_catalog.=) (
           select q.id from readpast.queue q
            where q.name operator(pg_catalog.=) n.queue)
   and array[a.state, a.priority, a.claim_no, a.attempt, a.max_attempts]
       operator(pg_catalog.=)
       array[n.state, n.priority, n.claim_no, n.attempt, n.max_attempts]
   and array[(a.extra).keep_ms, (a.extra).timeout_ms, (a.extra).unique_for_ms]
       operator(pg_catalog.=)
       array[n.keep_ms, n.timeout_ms, n.unique_for_ms]
   and array[a.finished_at, a.run_at, a.created_at, (a.extra).expire_at]
       operator(pg_catalog.=)
       array[readpast.at_ms(n.finished_at), readpast.at_ms(n.run_at),
             readpast.at_ms(n.created_at), readpast.at_ms(n.expire_at)]
   and array[a.worker, a.unique_key, a.group_key, a.kind,
             a.headers::pg_catalog.text,
             a.last_error, (a.extra).backoff::pg_catalog.text]
       operator(pg_catalog.=)
       array[n.worker, n.unique_key, n.group_key, n.kind, n.headers, n.last_error,
             n.backoff]
   and array[a.failures]
       operator(pg_catalog.=) array[n.failures::pg_catalog.jsonb]
   and array[(a.extra).progress] operator(pg_catalog.=) array[n.progress]
   and array[a.result] operator(pg_catalog.=) array[n.result]
   and a.payload operator(pg_catalog.=) n.payload;
