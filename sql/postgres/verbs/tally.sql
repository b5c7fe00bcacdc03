-- tally: record how many jobs of each queue a client has finished since its last run of
-- this statement. A client runs this statement at most once a second.

insert into readpast.tally (second, queue_id, done, failed)
select extract(epoch from pg_catalog.clock_timestamp())::bigint,
       t.queue_id::integer, t.done, t.failed
  from unnest(:queue_id[]::bigint[], :done[]::bigint[], :failed[]::bigint[])
       as t(queue_id, done, failed);
