-- import_live: insert jobs of another database, unchanged, into queues that exist. The
-- jobs are ready or scheduled.
-- A job keeps its claim number. No worker of this database was given that number, so no
-- verdict on the job is accepted before the job is claimed.
-- A scheduled job whose time has come is inserted as a ready job, at the end of the
-- ready line. As a scheduled job it might be missed, because a sweep does not look
-- again at times that earlier sweeps have passed. Such jobs are inserted in the order
-- of their times, because the jobs of a group run in this order.
-- A ready job keeps its number in the line. Claims may already start after that number,
-- and would miss the job. So the statement adds rows to `recheck`. The next sweep then
-- looks at these numbers, and moves such jobs to the end of their lanes.

with opened as (
    insert into readpast.lane (lane_id)
    select distinct readpast.lane_of(q.id, n.priority::integer,
                                     c.class::integer)
      from unnest(:queue[]::pg_catalog.text[], :priority[]::bigint[],
                  :class[]::bigint[]) as n(queue, priority, class)
      join readpast.queue q on q.name operator(pg_catalog.=) n.queue
     cross join lateral (values (n.class), (2::bigint)) as c(class)
    except
    select l.lane_id from readpast.lane l),
imported as (
    insert into readpast.job (id, lane_id, seq, run_at, created_at, queue_id,
                              max_attempts, claim_no, attempt, lost, unique_key,
                              kind, headers, last_error, failures, payload,
                              extra, group_key)
    select n.id, readpast.lane_of(q.id, n.priority::integer, n.class::integer),
           coalesce(n.seq, case when readpast.at_ms(n.run_at)
                                     operator(pg_catalog.<=)
                                     pg_catalog.clock_timestamp()
                                then pg_catalog.nextval('readpast.line') end),
           readpast.at_ms(n.run_at), readpast.at_ms(n.created_at), q.id,
           n.max_attempts, n.claim_no, n.attempt, n.lost, n.unique_key, n.kind,
           n.headers::pg_catalog.json, n.last_error,
           n.failures::pg_catalog.jsonb, n.payload,
           readpast.extra_of(n.keep_ms, n.timeout_ms,
                             readpast.at_ms(n.expire_at),
                             n.backoff::pg_catalog.json, n.unique_for_ms,
                             n.progress), n.group_key
      from unnest(:id[]::bigint[], :queue[]::pg_catalog.text[],
                  :priority[]::bigint[], :class[]::bigint[], :seq[]::bigint[],
                  :run_at[]::bigint[],
                  :claim_no[]::bigint[], :attempt[]::bigint[], :lost[]::bigint[],
                  :max_attempts[]::bigint[], :created_at[]::bigint[],
                  :unique_key[]::pg_catalog.text[], :kind[]::pg_catalog.text[],
                  :headers[]::pg_catalog.text[],
                  :payload[]::pg_catalog.bytea[],
                  :last_error[]::pg_catalog.text[],
                  :failures[]::pg_catalog.text[],
                  :keep_ms[]::bigint[], :timeout_ms[]::bigint[],
                  :expire_at[]::bigint[], :backoff[]::pg_catalog.text[],
                  :unique_for_ms[]::bigint[], :group_key[]::pg_catalog.text[],
              :progress[]::pg_catalog.text[])
           as n(id, queue, priority, class, seq, run_at, claim_no, attempt,
                lost, max_attempts, created_at, unique_key, kind, headers,
                payload, last_error, failures, keep_ms, timeout_ms,
                expire_at, backoff, unique_for_ms, group_key, progress)
      join readpast.queue q on q.name operator(pg_catalog.=) n.queue
     order by n.run_at, n.id
    returning job.id, job.lane_id, job.seq, (job.extra).expire_at),
expiring as (
    insert into readpast.expiry (expire_at, first_id, last_id)
    select i.expire_at, i.id, i.id
      from imported i
     where i.expire_at is not null)
insert into readpast.recheck (lane_id, first, last)
select i.lane_id, pg_catalog.min(i.seq), pg_catalog.max(i.seq)
  from imported i
 where i.seq is not null
 group by i.lane_id;
