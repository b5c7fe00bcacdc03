-- key_import: write unique keys that stay taken although their jobs are done. Keys of
-- queues that do not exist are skipped. If a key is already taken here until a later
-- time, that key is not changed.

insert into readpast.taken_key as k (queue_id, unique_key, job_id, until)
select q.id, n.unique_key, n.job_id, readpast.at_ms(n.until)
  from unnest(:queue[]::pg_catalog.text[], :unique_key[]::pg_catalog.text[],
              :job_id[]::bigint[], :until[]::bigint[])
       as n(queue, unique_key, job_id, until)
  join readpast.queue q on q.name operator(pg_catalog.=) n.queue
 order by q.id, n.unique_key
    on conflict (queue_id, unique_key) do update
   set job_id = excluded.job_id, until = excluded.until
 where excluded.until operator(pg_catalog.>) k.until;
