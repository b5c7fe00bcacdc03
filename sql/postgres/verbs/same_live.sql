-- same_live: compare the given rows with this database's live jobs, field by field.
-- Returns the rows that equal a live job. Two differences are ignored. A job that is
-- scheduled in the given row may be ready here, because its run_at has come. A ready
-- job may have another number of the ready line here, because a sweep may have moved
-- it.

select n.number, j.id
  from unnest(:id[]::bigint[], :queue[]::pg_catalog.text[],
              :priority[]::bigint[], :class[]::bigint[], :seq[]::bigint[],
              :run_at[]::bigint[],
              :claim_no[]::bigint[], :attempt[]::bigint[], :lost[]::bigint[],
              :max_attempts[]::bigint[], :created_at[]::bigint[],
              :unique_key[]::pg_catalog.text[], :kind[]::pg_catalog.text[],
              :headers[]::pg_catalog.text[], :payload[]::pg_catalog.bytea[],
              :last_error[]::pg_catalog.text[],
              :failures[]::pg_catalog.text[],
              :keep_ms[]::bigint[], :timeout_ms[]::bigint[],
              :expire_at[]::bigint[], :backoff[]::pg_catalog.text[],
              :unique_for_ms[]::bigint[], :group_key[]::pg_catalog.text[],
              :progress[]::pg_catalog.text[]) with ordinality
       as n(id, queue, priority, class, seq, run_at, claim_no, attempt,
            lost, max_attempts, created_at, unique_key, kind, headers, payload,
            last_error, failures, keep_ms, timeout_ms, expire_at, backoff,
            unique_for_ms, group_key, progress, number)
  join readpast.job j on j.id operator(pg_catalog.=) n.id
 where j.queue_id operator(pg_catalog.=) (
           select q.id from readpast.queue q
            where q.name operator(pg_catalog.=) n.queue)
   and j.lease_until is null
   and ((j.seq is null) operator(pg_catalog.=) (n.seq is null)
        or j.run_at operator(pg_catalog.=) timestamp with time zone 'infinity'
        or n.seq is null
           and j.run_at operator(pg_catalog.<=) pg_catalog.clock_timestamp())
   and array[j.lane_id, j.claim_no, j.attempt, j.lost, j.max_attempts]
       operator(pg_catalog.=)
       array[readpast.lane_of(j.queue_id, n.priority::integer,
                              n.class::integer),
             n.claim_no, n.attempt, n.lost, n.max_attempts]
   and array[(j.extra).keep_ms, (j.extra).timeout_ms, (j.extra).unique_for_ms]
       operator(pg_catalog.=)
       array[n.keep_ms, n.timeout_ms, n.unique_for_ms]
   and array[case when j.run_at operator(pg_catalog.<)
                       timestamp with time zone 'infinity' then j.run_at
                  else readpast.waits_since(j) end,
             j.created_at, (j.extra).expire_at]
       operator(pg_catalog.=)
       array[readpast.at_ms(n.run_at), readpast.at_ms(n.created_at),
             readpast.at_ms(n.expire_at)]
   and array[j.unique_key, j.group_key, j.kind,
             j.headers::pg_catalog.text, j.last_error,
             (j.extra).backoff::pg_catalog.text]
       operator(pg_catalog.=)
       array[n.unique_key, n.group_key, n.kind, n.headers, n.last_error, n.backoff]
   and array[j.failures]
       operator(pg_catalog.=) array[n.failures::pg_catalog.jsonb]
   and array[(j.extra).progress] operator(pg_catalog.=) array[n.progress]
   and j.payload operator(pg_catalog.=) n.payload;
