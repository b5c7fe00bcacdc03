-- export: return the stored rows of live and kept jobs. The jobs are those of :queues
-- (a JSON array of names) with ids larger than :after and not larger than :until. The
-- list ends after :max rows, or when its payloads reach :size bytes. Kept jobs that a
-- sweep will delete within :spare_ms are left out.
-- state: 3 for a running job, 1 for any other live job. For a kept job it is the state
-- in which the job ended.

select e.id, e.queue, e.state, e.priority, e.class, e.seq, e.run_at,
       e.claim_no, e.attempt, e.lost, e.max_attempts, e.worker, e.created_at,
       e.finished_at, e.unique_key, e.kind, e.headers, e.payload,
       e.last_error, e.failures, e.keep_ms, e.timeout_ms, e.expire_at,
       e.backoff, e.unique_for_ms, e.group_key, e.progress, e.result
  from (select e.*, pg_catalog.sum(pg_catalog.octet_length(e.payload))
                    over (order by e.id)
                    operator(pg_catalog.-) pg_catalog.octet_length(e.payload)
                    as size_before
          from ((select j.id,
                        (select q.name from readpast.queue q
                          where q.id operator(pg_catalog.=) j.queue_id)
                        as queue,
                        case when j.lease_until is null then 1 else 3 end
                        as state,
                        readpast.priority_of(j.lane_id) as priority,
                        readpast.class_of(j.lane_id) as class,
                        j.seq,
                        case when j.seq is null
                                  and j.run_at operator(pg_catalog.=)
                                      timestamp with time zone 'infinity'
                             then readpast.waits_since(j)
                             else j.run_at end as run_at, j.claim_no, j.attempt,
                        j.lost, j.max_attempts, null::pg_catalog.text as worker,
                        j.created_at,
                        null::timestamp with time zone as finished_at,
                        j.unique_key,
                        j.kind, j.headers::pg_catalog.text as headers,
                        j.payload, j.last_error,
                        j.failures::pg_catalog.text as failures, (j.extra).keep_ms,
                        (j.extra).timeout_ms, (j.extra).expire_at,
                        (j.extra).backoff::pg_catalog.text as backoff,
                        (j.extra).unique_for_ms, j.group_key, (j.extra).progress,
                        null::pg_catalog.bytea as result
                   from readpast.job j
                  where j.id operator(pg_catalog.>) :after::bigint
                    and j.id operator(pg_catalog.<=) :until::bigint
                    and j.queue_id operator(pg_catalog.=) any (array(
                            select q.id from readpast.queue q
                             where :queues::pg_catalog.text::pg_catalog.jsonb
                                   operator(pg_catalog.?) q.name))
                  order by j.id
                  limit :max::bigint)
                union all
                (select a.id, q.name, a.state, a.priority, 2, null, a.run_at,
                        a.claim_no, a.attempt, 0, a.max_attempts, a.worker,
                        a.created_at, a.finished_at, a.unique_key, a.kind,
                        a.headers::pg_catalog.text, a.payload, a.last_error,
                        a.failures::pg_catalog.text, (a.extra).keep_ms, (a.extra).timeout_ms,
                        (a.extra).expire_at, (a.extra).backoff::pg_catalog.text,
                        (a.extra).unique_for_ms, a.group_key, (a.extra).progress,
                        a.result
                   from readpast.archive a
                   join readpast.queue q
                     on q.id operator(pg_catalog.=) a.queue_id
                  where a.id operator(pg_catalog.>) :after::bigint
                    and a.id operator(pg_catalog.<=) :until::bigint
                    and :queues::pg_catalog.text::pg_catalog.jsonb
                        operator(pg_catalog.?) q.name
                    and (a.finished_at operator(pg_catalog.+)
                         readpast.ms(case when a.state operator(pg_catalog.=) 4
                                          then coalesce((a.extra).keep_ms,
                                                        q.keep_done_ms)
                                          else greatest((a.extra).keep_ms,
                                                        q.keep_dead_ms) end))
                        operator(pg_catalog.>)
                        (pg_catalog.clock_timestamp() operator(pg_catalog.+)
                         readpast.ms(:spare_ms))
                  order by a.id
                  limit :max::bigint)) e
         order by e.id
         limit :max::bigint) e
 where e.size_before operator(pg_catalog.<) :size::bigint
 order by e.id;
