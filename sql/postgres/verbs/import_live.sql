-- import_live: live jobs that nobody holds, as they are, into queues that are
-- there. Their claim numbers were given to nobody here. What was due when it
-- came stands in line: the sweep has marks for how far it looked for such, and
-- would not look there again. What stands in line there is noted, for a lane's head
-- may have passed its number: then the sweep puts it at the end. And two may have
-- one number, so how many jobs of a thousand are done says nothing any more.

with opened as (
    insert into readpast.lane (lane_id)
    select distinct readpast.lane_of(q.id, n.priority::integer,
                                     n.class::integer)
      from unnest(:queue[]::pg_catalog.text[], :priority[]::bigint[],
                  :class[]::bigint[]) as n(queue, priority, class)
      join readpast.queue q on q.name operator(pg_catalog.=) n.queue
    except
    select l.lane_id from readpast.lane l),
imported as (
    insert into readpast.job (id, lane_id, seq, run_at, created_at, queue_id,
                              max_attempts, claim_no, attempt, lost, unique_key,
                              kind, headers, last_error, failures, payload)
    select n.id, readpast.lane_of(q.id, n.priority::integer, n.class::integer),
           coalesce(n.seq, case when readpast.at_ms(n.run_at)
                                     operator(pg_catalog.<=)
                                     pg_catalog.clock_timestamp()
                                then pg_catalog.nextval('readpast.line') end),
           readpast.at_ms(n.run_at), readpast.at_ms(n.created_at), q.id,
           n.max_attempts, n.claim_no, n.attempt, n.lost, n.unique_key, n.kind,
           n.headers::pg_catalog.json, n.last_error,
           n.failures::pg_catalog.jsonb, n.payload
      from unnest(:id[]::bigint[], :queue[]::pg_catalog.text[],
                  :priority[]::bigint[], :class[]::bigint[], :seq[]::bigint[],
                  :run_at[]::bigint[],
                  :claim_no[]::bigint[], :attempt[]::bigint[], :lost[]::bigint[],
                  :max_attempts[]::bigint[], :created_at[]::bigint[],
                  :unique_key[]::pg_catalog.text[], :kind[]::pg_catalog.text[],
                  :headers[]::pg_catalog.text[],
                  :payload[]::pg_catalog.bytea[],
                  :last_error[]::pg_catalog.text[],
                  :failures[]::pg_catalog.text[])
           as n(id, queue, priority, class, seq, run_at, claim_no, attempt,
                lost, max_attempts, created_at, unique_key, kind, headers,
                payload, last_error, failures)
      join readpast.queue q on q.name operator(pg_catalog.=) n.queue
    returning job.lane_id, job.seq),
renumbered as (
    insert into readpast.ended (thousand, jobs)
    select distinct i.seq operator(pg_catalog./) 1000, -1000000
      from imported i
     where i.seq is not null)
insert into readpast.stray (lane_id, first, last)
select i.lane_id, pg_catalog.min(i.seq), pg_catalog.max(i.seq)
  from imported i
 where i.seq is not null
 group by i.lane_id;
