-- tally: record how many jobs of each queue a client has finished since its last run of
-- this statement. :ago_ms is the time since the last of these jobs ended. A client runs
-- this statement about once a second.

insert into readpast.tally (second, queue_id, done, failed)
select extract(epoch from pg_catalog.clock_timestamp())::bigint
       operator(pg_catalog.-) (t.ago_ms operator(pg_catalog./) 1000),
       t.queue_id::integer, t.done, t.failed
  from unnest(:queue_id[]::bigint[], :done[]::bigint[], :failed[]::bigint[],
              :ago_ms[]::bigint[]) as t(queue_id, done, failed, ago_ms);
